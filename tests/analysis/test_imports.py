"""Which module of the analysis imports which: no circles, neither at the top of a file nor inside functions."""

import ast
import unittest
from pathlib import Path

import tenex_analysis


def imports_of(file: Path) -> set[str]:
    """The modules of the package that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module} if node.module else {name.name for name in node.names}
    return found


def circles(imports: dict[str, set[str]]) -> set[str]:
    """The modules that are left when all that import none of the rest are removed again and again."""
    left = dict(imports)
    while free := [name for name, used in left.items() if not used & set(left)]:
        for name in free:
            del left[name]
    return set(left)


class ModulesFormNoCircle(unittest.TestCase):
    def test_of_the_package(self):
        files = Path(tenex_analysis.__file__).parent.glob("*.py")
        imports = {file.stem: imports_of(file) for file in files}
        self.assertIn("reader", imports["contests"])
        self.assertEqual(circles(imports), set())

    def test_a_circle_is_found(self):
        self.assertEqual(circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}), {"a", "b", "c"})

"""A headless Chromium over its debugging port, with Python's standard library alone.

`Browser` starts one, `Browser.open` loads a page. What a page logs, throws or requests is kept, so that tests can say
that there was none.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

FLAGS = ("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars",
         "--remote-debugging-port=0")
PATIENCE = 120  # seconds, after which what hangs is ended


def find_chromium() -> str | None:
    """The path of a browser; None where there is none."""
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class WebSocket:
    """The client's side of RFC 6455, for text messages."""

    def __init__(self, host: str, port: int, path: str):
        self.socket = socket.create_connection((host, port), timeout=PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
                            .encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.socket.recv(65536)
        self.rest = self.rest.split(b"\r\n\r\n", 1)[1]

    def _take(self, count: int) -> bytes:
        while len(self.rest) < count:
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise ConnectionError("the browser has closed the connection")
            self.rest += piece
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def send(self, text: str) -> None:
        """One text frame, masked as a client must."""
        payload, mask = text.encode(), os.urandom(4)
        size = len(payload)
        head = bytes([0x81, 0x80 | size]) if size < 126 else (
            struct.pack(">BBH", 0x81, 0xFE, size) if size < 65536 else struct.pack(">BBQ", 0x81, 0xFF, size))
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def receive(self) -> str:
        """The next message, joined from its frames."""
        message = b""
        while True:
            first, second = self._take(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            payload = self._take(size)
            if first & 0x0F == 8:
                raise ConnectionError("the browser has closed the connection")
            if first & 0x0F in (0, 1):
                message += payload
                if first & 0x80:
                    return message.decode()


class Browser:
    """One browser with one page."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        command = [find_chromium() or "chromium", *FLAGS, f"--user-data-dir={self.folder.name}", "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = self._port()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE) as answer:
            target = next(each for each in json.load(answer) if each["type"] == "page")
        self.socket = WebSocket("127.0.0.1", port, "/" + target["webSocketDebuggerUrl"].split("/", 3)[3])
        self.number = 0
        self.problems: list[str] = []  # logged errors, exceptions, breaches of the policy
        self.requests: list[str] = []  # what was asked for beside the page itself
        self.page = ""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _port(self) -> int:
        file = Path(self.folder.name) / "DevToolsActivePort"
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if file.exists() and file.read_text(encoding="utf-8").strip():
                return int(file.read_text(encoding="utf-8").split()[0])
            time.sleep(0.05)
        raise TimeoutError("the browser does not start")

    def _note(self, event: dict) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(str(params["args"]))
        elif method == "Network.requestWillBeSent" and params["request"]["url"] != self.page:
            self.requests.append(params["request"]["url"][:120])

    def call(self, method: str, **params: object) -> dict:
        """A command of the protocol, and its answer."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") != self.number:
                self._note(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def run(self, script: str) -> object:
        """The value of an expression in the page; it may be a promise."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", script))
        return answer["result"].get("value")

    def open(self, path: Path, width: int = 1400, height: int = 1000, dark: bool = False) -> float:
        """Loads a page and waits until it says that it is ready; the seconds that took."""
        self.problems.clear()
        self.requests.clear()
        self.page = path.resolve().as_uri()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        begin = time.monotonic()
        self.call("Page.navigate", url=self.page)
        self.wait_for("document.body && document.body.hasAttribute('data-ready') || !document.getElementById('problem')"
                      " || !document.getElementById('problem').hidden")
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - begin

    def wait_for(self, condition: str) -> None:
        """Until a condition holds in the page."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if self.run(f"Boolean(document.readyState === 'complete' && ({condition}))"):
                    return
            except RuntimeError:
                pass  # the page is being replaced
            time.sleep(0.02)
        raise TimeoutError(f"in vain: {condition}; {self.problems}")

    def press(self, key: str, code: int = 0) -> None:
        """One key, down and up."""
        text = {"text": key} if len(key) == 1 else {}
        if key == "Enter":
            text = {"text": "\r"}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **(text if kind == "keyDown" else {}))

    def move(self, x: float, y: float) -> None:
        """The pointer to a place of the window."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """A click at a place of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path: Path, whole: bool = True) -> None:
        """What is seen, as PNG."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        """Ends the browser."""
        try:
            self.call("Browser.close")
        except (ConnectionError, OSError, RuntimeError):
            self.process.kill()
        self.process.wait(timeout=PATIENCE)
        self.folder.cleanup()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

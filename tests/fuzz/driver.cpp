// Runs a fuzz target without libFuzzer: the corpus, then mutations of it, the same ones for the same seed.
//
//   TENEX_FUZZ=TARGET fuzz [--runs N] [--seed N] FILE_OR_FOLDER...
//
// An input that crashes the target, or keeps it busy for longer than a libFuzzer run would allow (10 s), is written to
// ./fuzz-crash-input, and the process ends with a signal. Leaks: memory in use may not grow from one pass over the
// corpus to the next one.
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr unsigned longest_seconds = 10;
constexpr std::size_t longest_input = 1 << 16;
constexpr std::size_t slack_bytes = 64 << 10;  // growth allowed between passes: caches, rounding by the allocator

// The current input, for the signal handler.
const char* current_data = nullptr;
std::size_t current_size = 0;

extern "C" void keep_input(int signal) {
  const int file = open("fuzz-crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  (void)!write(file, current_data, current_size);
  constexpr std::string_view words = "\nthe input is in ./fuzz-crash-input\n";
  (void)!write(2, words.data(), words.size());
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void run_one(const std::string& input) {
  current_data = input.data();
  current_size = input.size();
  alarm(longest_seconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  alarm(0);
}

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> read_corpus(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const auto& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& file : std::filesystem::recursive_directory_iterator(path))
      if (file.is_regular_file()) files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const auto& file : files)
    if (auto text = read(file); text.size() <= longest_input) inputs.push_back(std::move(text));
  return inputs;
}

/// Mutates an input at a few places: bits, bytes, pieces moved within it or copied from another.
class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, unsigned seed) : corpus_(corpus), random_(seed) {}

  std::string next() {
    auto input = pick();
    for (auto times = below(5) + 1; times > 0; --times) change(input);
    if (input.size() > longest_input) input.resize(longest_input);
    return input;
  }

 private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  const std::string& pick() { return corpus_[below(corpus_.size())]; }
  std::string piece_of(const std::string& text) {
    if (text.empty()) return {};
    return text.substr(below(text.size()), below(std::min<std::size_t>(text.size(), 40)) + 1);
  }

  void change(std::string& input) {
    static const std::vector<std::string> words = {"0",
                                                   "-1",
                                                   "1e308",
                                                   "9223372036854775807",
                                                   "18446744073709551616",
                                                   "1e-320",
                                                   "nan",
                                                   "\"",
                                                   "[",
                                                   "]",
                                                   "{",
                                                   "}",
                                                   "=",
                                                   ",",
                                                   "\n",
                                                   "(",
                                                   ")",
                                                   "TB/s",
                                                   "ps",
                                                   "..",
                                                   "%",
                                                   "\xff",
                                                   std::string(1, '\0'),
                                                   " and ",
                                                   " or ",
                                                   "-",
                                                   "1/0"};
    const auto at = below(input.size() + 1);
    switch (below(8)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ static_cast<char>(1U << below(8)));
        break;
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(below(256));
        break;
      case 2:
        input.erase(at, below(20) + 1);
        break;
      case 3:
        input.insert(at, words[below(words.size())]);
        break;
      case 4:
        input.insert(at, piece_of(input));
        break;
      case 5:
        input.insert(at, piece_of(pick()));
        break;
      case 6:
        input.resize(at);
        break;
      default:
        change_number(input, at);
    }
  }

  /// Replaces the digits at or after a position.
  void change_number(std::string& input, std::size_t at) {
    const auto first = input.find_first_of("0123456789", at);
    if (first == std::string::npos) return;
    const auto last = input.find_first_not_of("0123456789", first);
    const auto digits = std::to_string(random_() >> below(64));
    input.replace(first, last == std::string::npos ? std::string::npos : last - first, digits);
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_;
};

bool leaks(const std::vector<std::string>& corpus) {
  for (const auto& input : corpus) run_one(input);  // fills caches
  const auto before = mallinfo2().uordblks;
  for (int pass = 0; pass < 3; ++pass)
    for (const auto& input : corpus) run_one(input);
  const auto after = mallinfo2().uordblks;
  if (after <= before + slack_bytes) return false;
  std::fprintf(stderr, "memory in use grew from %zu to %zu bytes over three passes\n", before, after);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t runs = 2'000;
  unsigned seed = 1;
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--runs" && i + 1 < argc)
      runs = std::strtoul(argv[++i], nullptr, 10);
    else if (word == "--seed" && i + 1 < argc)
      seed = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    else
      paths.emplace_back(word);
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) ::signal(signal, keep_input);
  const auto corpus = read_corpus(paths);
  if (corpus.empty()) {
    std::fprintf(stderr, "no corpus (no readable file is named) name files or folders\n");
    return 2;
  }
  if (leaks(corpus)) return 1;
  Mutator mutator(corpus, seed);
  for (std::size_t run = 0; run < runs; ++run) run_one(mutator.next());
  std::printf("%zu inputs of the corpus, %zu mutations\n", corpus.size(), runs);
  return 0;
}

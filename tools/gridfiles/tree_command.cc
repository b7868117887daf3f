// tree prints the names as a tree of folders, as tree(1) does: a folder for each part of a name up
// to a slash, with the bytes below it, and the newest file of each name with its length. With
// --json it prints a document for each line, as du does.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "gridfs/bucket/upload_order.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/output.h"

namespace gridmount::tools {

namespace {

constexpr size_t kLengthColumns = 11;  // as those of tree -s
// Folders below this depth are shown as part of the names in them, so that a name of a million
// slashes does not exhaust the stack.
constexpr int kDepthMax = 1000;

struct Entry {
  int64_t bytes = 0;
  int64_t files = 0;
  // The entries of a folder, sorted by their names. The name of a folder ends with a slash. A file
  // has no entries.
  std::map<std::string, Entry, std::less<>> entries = {};

  // Returns the entry with that name. Creates the entry if it does not exist.
  Entry& at(std::string_view name) { return entries.try_emplace(std::string(name)).first->second; }
  bool is_folder() const { return !entries.empty(); }
};

// Adds the newest file of a name, which is relative to the root.
void add(Entry& root, std::string_view name, int64_t bytes) {
  Entry* folder = &root;
  const auto count = [&](Entry& entry) {
    entry.bytes += bytes;
    ++entry.files;
  };
  count(root);
  for (int depth = 0; depth < kDepthMax; ++depth) {
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) break;
    folder = &folder->at(name.substr(0, slash + 1));
    count(*folder);
    name.remove_prefix(slash + 1);
  }
  count(folder->at(name));
}

class Printer {
 public:
  explicit Printer(const Options& options) : options_(options) {}

  // Prints the folder's entries. `name` is the full name of the folder. `branches` is the text
  // before the lines of its entries.
  Status print(const Entry& folder, const std::string& name, const std::string& branches) {
    size_t left = folder.entries.size();
    for (const auto& [part, entry] : folder.entries) {
      const bool is_last = --left == 0;
      ++(entry.is_folder() ? folders_ : files_);
      if (options_.json) {
        GM_TRY(print_document(name + part, entry));
      } else {
        GM_TRY(print_line(branches + (is_last ? "└── " : "├── ") + "[" + column(entry.bytes) +
                          "]  " + part));
      }
      GM_TRY(print(entry, name + part, branches + (is_last ? "    " : "│   ")));
    }
    return {};
  }

  Status print_total(const Entry& root) const {
    if (options_.json) return print_document("total", root);
    GM_TRY(print_line(""));
    return print_line(counted(static_cast<uint64_t>(folders_), "directory", "directories") + ", " +
                      counted(static_cast<uint64_t>(files_), "file"));
  }

 private:
  static std::string column(int64_t number) {
    const std::string digits = std::to_string(number);
    return std::string(kLengthColumns - std::min(digits.size(), kLengthColumns), ' ') + digits;
  }

  static Status print_document(const std::string& name, const Entry& entry) {
    bson::Builder document;
    document.append("name", name).append("bytes", entry.bytes).append("files", entry.files);
    return print_json(std::move(document).finish());
  }

  const Options& options_;
  int64_t folders_ = 0;
  int64_t files_ = 0;
};

}  // namespace

// All names are in memory before the first line, because the line of an entry depends on whether
// others follow in its folder.
Status run_tree(const CommandContext& context) {
  const std::string prefix = context.arguments.empty() ? "" : context.arguments[0];
  // The innermost folder that contains all names with the prefix.
  const std::string root = prefix.substr(0, prefix.rfind('/') + 1);
  Entry tree;
  std::string name;              // relative to the root
  std::optional<int64_t> bytes;  // of the newest file that was read of `name`
  const auto visit = [&](bson::View file) -> Status {
    std::string next = filename_of(file).substr(root.size());
    if (bytes && next != name) add(tree, name, *bytes);
    name = std::move(next);
    bytes = length_of(file).value_or(0);
    return {};
  };
  GM_TRY(for_each_file(context, names_of_argument(context), gridfs::by_filename_oldest_first(),
                       visit));
  if (bytes) add(tree, name, *bytes);
  Printer printer(context.options);
  if (!context.options.json) GM_TRY(print_line(root.empty() ? "." : root));
  GM_TRY(printer.print(tree, root, ""));
  GM_TRY(printer.print_total(tree));
  return flush_output();
}

}  // namespace gridmount::tools

// du prints the bytes below each folder. It takes the files whose names begin with the prefix, and
// groups them by their names up to the next slash behind the prefix. It prints a line for each
// group, and a line with the total.
#include <optional>
#include <string>

#include "engine/bson/builder.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/output.h"

namespace gridmount::tools {

namespace {

struct Sum {
  std::string name;
  int64_t bytes = 0;
  int64_t files = 0;

  void add(int64_t length) {
    bytes += length;
    ++files;
  }
};

Status print_sum(const Options& options, const Sum& sum) {
  if (!options.json) return print_line(sum.name + "\t" + std::to_string(sum.bytes));
  bson::Builder document;
  document.append("name", sum.name).append("bytes", sum.bytes).append("files", sum.files);
  return print_json(std::move(document).finish());
}

// Returns the name up to the first slash behind the prefix, including the slash. Without such a
// slash, returns the whole name.
std::string folder_of(const std::string& name, size_t prefix_bytes) {
  const size_t slash = name.find('/', prefix_bytes);
  return slash == std::string::npos ? name : name.substr(0, slash + 1);
}

}  // namespace

// The files are read in the order of their names. So the files of a folder follow each other, and
// memory does not grow with the number of folders.
Status run_du(const CommandContext& context) {
  bson::Builder order;
  order.append("filename", int32_t{1});
  const bson::Document by_name = std::move(order).finish();
  const size_t prefix_bytes = context.arguments.empty() ? 0 : context.arguments[0].size();
  Sum total{"total"};
  std::optional<Sum> folder;
  const auto add = [&](bson::View file) -> Status {
    const std::string name = folder_of(filename_of(file), prefix_bytes);
    if (folder && folder->name != name) GM_TRY(print_sum(context.options, *folder));
    if (!folder || folder->name != name) folder = Sum{name};
    const int64_t length = length_of(file).value_or(0);
    folder->add(length);
    total.add(length);
    return {};
  };
  GM_TRY(for_each_file(context, names_of_argument(context), by_name, add));
  if (folder) GM_TRY(print_sum(context.options, *folder));
  GM_TRY(print_sum(context.options, total));
  return flush_output();
}

}  // namespace gridmount::tools

// put and put_id copy local files into the bucket.
#include <filesystem>
#include <string>
#include <system_error>

#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_id.h"
#include "tools/gridfiles/local_folder.h"
#include "tools/gridfiles/stored_file.h"

namespace gridmount::tools {

namespace {

const std::string& local_name_of(const CommandContext& context, const std::string& name) {
  return context.options.local.empty() ? name : context.options.local;
}

// Like `cp -r`: the names begin with the last component of the folder's path, if it has one.
Status put_recursively(const CommandContext& context, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // put() fails too
  if (!fs::is_directory(path, ignored)) return store_file(context, {path, path});
  fs::path normal = fs::path(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  const std::string last = normal.filename().string();
  return for_each_local_file(context, path, last == "." || last == ".." || last == "/" ? "" : last,
                             [&](const fs::path& file, const std::string& name) {
                               return store_file(context, {file.string(), name});
                             });
}

}  // namespace

Status run_put(const CommandContext& context) {
  if (context.options.recursive && !context.options.local.empty()) {
    return fail(ErrorCode::kInvalidOptions, "cannot put folders with --local specified");
  }
  for (const std::string& name : context.arguments) {
    GM_TRY(context.options.recursive ? put_recursively(context, name)
                                     : store_file(context, {local_name_of(context, name), name}));
  }
  return {};
}

Status run_put_id(const CommandContext& context) {
  GM_ASSIGN(bson::Value id, parse_file_id(context.arguments[1]));
  const std::string& name = context.arguments[0];
  return store_file(context, {local_name_of(context, name), name, std::move(id)});
}

}  // namespace gridmount::tools

// put and put_id copy local files into the bucket.
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_id.h"
#include "tools/gridfiles/local_folder.h"
#include "tools/gridfiles/stored_file.h"
#include "tools/gridfiles/transfers.h"

namespace gridmount::tools {

namespace {

const std::string& local_name_of(const CommandContext& context, const std::string& name) {
  return context.options.local.empty() ? name : context.options.local;
}

// Adds the files that put stores for a path. As with `cp -r`, the names of a folder's files begin
// with the last component of the folder's path, if this is not ".", ".." or "/".
Status add_sources(const CommandContext& context, const std::string& path,
                   std::vector<LocalSource>& sources) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // store_file() reports the error
  if (!fs::is_directory(path, ignored)) {
    sources.push_back({path, path});
    return {};
  }
  fs::path normal = fs::path(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  const std::string last = normal.filename().string();
  return for_each_local_file(context, path, last == "." || last == ".." || last == "/" ? "" : last,
                             [&](const fs::path& file, const std::string& name) -> Status {
                               sources.push_back({file.string(), name});
                               return {};
                             });
}

bool has_repeated_name(const std::vector<LocalSource>& sources) {
  std::set<std::string_view> names;
  for (const LocalSource& source : sources) {
    if (!names.insert(source.name).second) return true;
  }
  return false;
}

}  // namespace

Status run_put(const CommandContext& context) {
  if (context.options.recursive && !context.options.local.empty()) {
    return fail(ErrorCode::kInvalidOptions, "cannot put folders with --local specified");
  }
  std::vector<LocalSource> sources;
  for (const std::string& name : context.arguments) {
    if (context.options.recursive) {
      GM_TRY(add_sources(context, name, sources));
    } else {
      sources.push_back({local_name_of(context, name), name});
    }
  }
  if (context.progress.is_shown()) {
    for (const LocalSource& source : sources) {
      std::error_code unknown;
      const uintmax_t size = std::filesystem::file_size(source.path, unknown);
      if (!unknown) context.progress.expect(size);
    }
  }
  // If a name occurs several times, the files are put one after the other. So the last one is the
  // newest, and with --replace the only one.
  const int jobs = has_repeated_name(sources) ? 1 : context.options.jobs;
  return run_transfers(jobs, sources.size(),
                       [&](size_t i) { return store_file(context, sources[i]); });
}

Status run_put_id(const CommandContext& context) {
  GM_ASSIGN(bson::Value id, parse_file_id(context.arguments[1]));
  const std::string& name = context.arguments[0];
  return store_file(context, {local_name_of(context, name), name, std::move(id)});
}

}  // namespace gridmount::tools

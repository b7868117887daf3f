#include "tools/gridfiles/local_folder.h"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/gridfiles/interruption.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

namespace fs = std::filesystem;

// Returns the sorted paths of the entries of the folder.
Result<std::vector<fs::path>> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    entries.push_back(entry->path());
  }
  if (problem) {
    return fail(ErrorCode::kIoError, system_error_text("open", folder.string(), problem.value()));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

Status for_each_local_file(
    const CommandContext& context, const fs::path& folder, const std::string& name,
    const std::function<Status(const fs::path& path, const std::string& name)>& visit,
    const std::function<void(const std::string& name)>& leave_out) {
  GM_TRY(Interruption::check());
  const auto left_out = [&](const fs::path& path, const std::string& as, std::string_view why) {
    context.log.line(Log::kAlways,
                     "leaving out " + in_quotes(path.string()) + ", which is " + std::string(why));
    if (leave_out) leave_out(as);
  };
  std::error_code problem;
  if (fs::equivalent(folder, context.options.store, problem)) {
    left_out(folder, name, "the store itself");
    return {};
  }
  GM_ASSIGN(const std::vector<fs::path> entries, entries_of(folder));
  std::vector<fs::path> folders;
  const auto name_of = [&](const fs::path& entry) {
    return name.empty() ? entry.filename().string() : name + "/" + entry.filename().string();
  };
  for (const fs::path& entry : entries) {
    const fs::file_status status = fs::symlink_status(entry, problem);
    if (fs::is_directory(status)) {
      folders.push_back(entry);
    } else if (fs::is_regular_file(status)) {
      GM_TRY(visit(entry, name_of(entry)));
    } else {
      left_out(entry, name_of(entry),
               fs::is_symlink(status) ? "a symbolic link" : "not a regular file");
    }
  }
  for (const fs::path& below : folders) {
    GM_TRY(for_each_local_file(context, below, name_of(below), visit, leave_out));
  }
  return {};
}

}  // namespace gridmount::tools

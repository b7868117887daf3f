// sync_put and sync_get make the files below a name in GridFS and the files of a local folder
// equal, in one direction. They transfer the files that differ. With --delete, they also remove the
// files that the source does not have.
//
// Two files are equal if they have the same length and the same modification time; with --checksum,
// if they have the same content. sync_put stores the time in the files document as a mount does
// (`metadata.posix.mtime`). A file without that time was put by another program at its uploadDate.
// For sync_put, such a file is equal if the local file has not been modified since then. For
// sync_get, it is equal if the local file has exactly that time, which sync_get gives the files
// that it writes.
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "gridfs/bucket/files_document.h"
#include "gridfs/bucket/md5.h"
#include "gridfs/bucket/upload_order.h"
#include "gridfs/namespace/revisions.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/content_md5.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/local_file.h"
#include "tools/gridfiles/local_folder.h"
#include "tools/gridfiles/output.h"
#include "tools/gridfiles/stored_file.h"
#include "tools/gridfiles/transfers.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

namespace fs = std::filesystem;

struct LocalFile {
  std::string path;
  int64_t bytes = 0;
  timespec mtime{};
};

struct StoredFile {
  bson::Value id;
  int64_t bytes = 0;
  timespec mtime{};
  bool keeps_mtime = false;  // otherwise mtime is the uploadDate
  std::optional<std::string> md5 = {};
};

// The files of one side, sorted by their names below the folder.
template <typename File>
struct Side {
  std::map<std::string, File> files;
  std::set<std::string> left_out;  // names that exist but cannot be transferred

  // Returns whether the name, or a folder in it, was left out.
  bool leaves_out(const std::string& name) const {
    for (size_t slash = name.find('/'); slash != std::string::npos;
         slash = name.find('/', slash + 1)) {
      if (left_out.contains(name.substr(0, slash))) return true;
    }
    return left_out.contains(name);
  }
};

// The two places that a command works on.
struct Places {
  std::string folder;
  std::string prefix;  // the beginning of the names in GridFS: empty, or with a slash at the end
};

Places places_of(const CommandContext& context) {
  Places places{context.arguments[0], {}};
  if (context.arguments.size() > 1) {
    std::string name = context.arguments[1];
    while (name.ends_with('/')) name.pop_back();
    if (!name.empty()) places.prefix = name + "/";
  }
  return places;
}

// Returns whether a file below a local folder can have exactly this name.
bool is_name_below_folder(std::string_view name) {
  if (name.find('\0') != std::string_view::npos) return false;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t slash = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, slash - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = slash + 1;
  }
  return true;
}

Result<Side<LocalFile>> read_local(const CommandContext& context, const std::string& folder) {
  Side<LocalFile> side;
  const auto visit = [&](const fs::path& path, const std::string& name) -> Status {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
      return fail(ErrorCode::kIoError, system_error_text("stat", path.string(), errno));
    }
    side.files[name] = {path.string(), status.st_size, status.st_mtim};
    return {};
  };
  const auto leave_out = [&](const std::string& name) { side.left_out.insert(name); };
  GM_TRY(for_each_local_file(context, folder, "", visit, leave_out));
  return side;
}

// Reads the newest file of each name.
Result<Side<StoredFile>> read_stored(const CommandContext& context, const std::string& prefix) {
  Side<StoredFile> side;
  const auto visit = [&](bson::View document) -> Status {
    const std::string name = filename_of(document).substr(prefix.size());
    side.files.erase(name);
    side.left_out.erase(name);
    if (!is_name_below_folder(name) || !gridfs::is_plain_file(document)) {
      side.left_out.insert(name);
      return {};
    }
    GM_ASSIGN(gridfs::FilesDocument file, gridfs::FilesDocument::parse(document));
    side.files[name] = {std::move(file.id), file.length,
                        file.posix.mtime.value_or(gridfs::to_timespec(file.upload_date)),
                        file.posix.mtime.has_value(), std::move(file.md5)};
    return {};
  };
  const bson::Document filter = prefix.empty() ? bson::Document() : names_beginning_with(prefix);
  GM_TRY(for_each_file(context, filter, gridfs::by_filename_oldest_first(), visit));
  for (const std::string& name : side.left_out) {
    context.log.line(Log::kAlways, "leaving out " + in_quotes(prefix + name) + ", which is " +
                                       (is_name_below_folder(name)
                                            ? "a symbolic link or another file without content"
                                            : "not a path that a file below a folder can have"));
  }
  return side;
}

Result<bool> has_equal_content(const CommandContext& context, const LocalFile& local,
                               const StoredFile& stored) {
  context.progress.set_subject(local.path);
  context.progress.expect(static_cast<uint64_t>(local.bytes));
  GM_ASSIGN(LocalInput input, LocalInput::open(local.path));
  GM_ASSIGN(const std::string local_md5, md5_of(input, context.progress));
  if (stored.md5) return *stored.md5 == local_md5;
  GM_ASSIGN(const auto stream, context.bucket.open_download_stream(stored.id));
  GM_ASSIGN(const std::string stored_md5, md5_of(*stream));
  return stored_md5 == local_md5;
}

enum class Direction { kPut, kGet };

// Returns true if the file need not be transferred.
Result<bool> are_equal(const CommandContext& context, Direction direction, const LocalFile& local,
                       const StoredFile& stored) {
  if (local.bytes != stored.bytes) return false;
  if (context.options.checksum) return has_equal_content(context, local, stored);
  // Dates in documents have milliseconds, and not all programs also write the nanoseconds.
  const bson::Date local_time = gridfs::to_date(local.mtime);
  const bson::Date stored_time = gridfs::to_date(stored.mtime);
  if (direction == Direction::kPut && !stored.keeps_mtime) return local_time <= stored_time;
  return local_time == stored_time;
}

// The work of a command, in the order of the names.
struct Plan {
  std::vector<std::string> transfers;
  std::vector<std::string> removals;
  size_t equal = 0;
};

// Returns the work that makes the side `to` equal to the side `from`.
template <typename From, typename To, typename Equal>
Result<Plan> plan(const CommandContext& context, const Side<From>& from, const Side<To>& to,
                  const Equal& is_equal) {
  Plan plan;
  for (const auto& [name, file] : from.files) {
    const auto there = to.files.find(name);
    if (there != to.files.end()) {
      GM_ASSIGN(const bool equal, is_equal(file, there->second));
      if (equal) {
        ++plan.equal;
        continue;
      }
    }
    plan.transfers.push_back(name);
  }
  if (!context.options.deletes) return plan;
  for (const auto& [name, file] : to.files) {
    if (!from.files.contains(name) && !from.leaves_out(name)) plan.removals.push_back(name);
  }
  return plan;
}

template <typename From>
void expect_transfers(const CommandContext& context, const Plan& plan, const Side<From>& from) {
  for (const std::string& name : plan.transfers) {
    context.progress.expect(static_cast<uint64_t>(from.files.at(name).bytes));
  }
}

Status print_plan(const Plan& plan, std::string_view transfer) {
  for (const std::string& name : plan.transfers) {
    GM_TRY(print_line(std::string(transfer) + "\t" + name));
  }
  for (const std::string& name : plan.removals) GM_TRY(print_line("delete\t" + name));
  return flush_output();
}

void report(const CommandContext& context, const Plan& plan) {
  context.log.line(Log::kAlways, "transferred " + counted(plan.transfers.size(), "file") +
                                     ", deleted " + counted(plan.removals.size(), "file") + "; " +
                                     counted(plan.equal, "file was equal", "files were equal"));
}

// Fails if a symbolic link has taken the place of the file or of one of its folders meanwhile.
Status get_file(const CommandContext& context, const Places& places, const std::string& name,
                const StoredFile& file) {
  const std::string path = places.folder + "/" + name;
  const auto with_context = [&](Error error) {
    if (error.code() == ErrorCode::kInterrupted) return fail(std::move(error));
    return fail(std::move(error).with_context("error while writing " +
                                              in_quotes(places.prefix + name) +
                                              " into local file " + in_quotes(path)));
  };
  context.progress.set_subject(name);
  auto stream = context.bucket.open_download_stream(file.id);
  if (!stream) return with_context(std::move(stream).error());
  GM_ASSIGN(AtomicFile output, create_file_below(places.folder, name, file.mtime));
  Status written = write_all(**stream, output, context.progress);
  if (written) written = output.commit();
  if (!written) return with_context(std::move(written).error());
  context.log.line(Log::kAlways, "finished writing to " + in_quotes(path) + "\n");
  return {};
}

Status remove_stored(const CommandContext& context, const std::string& name) {
  Status removed = context.bucket.remove_by_name(name);
  if (!removed && removed.error().code() != gridfs::kFileNotFound) {
    return fail(std::move(removed).error().with_context("error while removing " + in_quotes(name) +
                                                        " from GridFS"));
  }
  context.log.line(Log::kAlways,
                   "successfully deleted all instances of " + in_quotes(name) + " from GridFS\n");
  return {};
}

Status cannot_open_folder(const std::string& folder, int error_number) {
  return fail(ErrorCode::kIoError, system_error_text("open", folder, error_number));
}

// Returns the files of the folder, or no files if the folder does not exist.
Result<Side<LocalFile>> read_target_folder(const CommandContext& context,
                                           const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0) return read_local(context, folder);
  if (errno == ENOENT) return Side<LocalFile>();
  GM_TRY(cannot_open_folder(folder, errno));
  return Side<LocalFile>();
}

}  // namespace

// With --delete, fails if the folder has no files. This may be a mistake, such as a disk that is
// not mounted.
Status run_sync_put(const CommandContext& context) {
  const Places places = places_of(context);
  GM_ASSIGN(const Side<LocalFile> local, read_local(context, places.folder));
  if (context.options.deletes && local.files.empty()) {
    return fail(ErrorCode::kIllegalOperation,
                "the folder " + in_quotes(places.folder) +
                    " has no files, so --delete would remove all files from GridFS that it could; "
                    "remove them with `gridfiles delete` if that is meant");
  }
  GM_ASSIGN(const Side<StoredFile> stored, read_stored(context, places.prefix));
  const auto is_equal = [&](const LocalFile& from, const StoredFile& to) {
    return are_equal(context, Direction::kPut, from, to);
  };
  GM_ASSIGN(const Plan todo, plan(context, local, stored, is_equal));
  if (context.options.dry_run) return print_plan(todo, "put");
  expect_transfers(context, todo, local);
  const auto transfer = [&](size_t i) {
    const std::string& name = todo.transfers[i];
    const LocalFile& file = local.files.at(name);
    LocalSource source{file.path, places.prefix + name};
    source.mtime = file.mtime;
    return store_file(context, source);
  };
  GM_TRY(run_transfers(context.options.jobs, todo.transfers.size(), transfer));
  for (const std::string& name : todo.removals) {
    GM_TRY(remove_stored(context, places.prefix + name));
  }
  report(context, todo);
  return {};
}

// Fails if no file has the prefix. This may be a mistake, and --delete would empty the folder.
Status run_sync_get(const CommandContext& context) {
  const Places places = places_of(context);
  GM_ASSIGN(const Side<StoredFile> stored, read_stored(context, places.prefix));
  if (stored.files.empty()) {
    return fail(gridfs::kFileNotFound,
                places.prefix.empty()
                    ? "the bucket " + in_quotes(context.bucket.options().name) + " has no files"
                    : "no file has a name that begins with " + in_quotes(places.prefix));
  }
  GM_ASSIGN(const Side<LocalFile> local, read_target_folder(context, places.folder));
  const auto is_equal = [&](const StoredFile& from, const LocalFile& to) {
    return are_equal(context, Direction::kGet, to, from);
  };
  GM_ASSIGN(const Plan todo, plan(context, stored, local, is_equal));
  for (const std::string& name : todo.transfers) {
    if (!local.leaves_out(name)) continue;
    return fail(ErrorCode::kIllegalOperation,
                "the path " + in_quotes(places.folder + "/" + name) +
                    " is or contains a symbolic link, a device or the store; remove it first");
  }
  if (context.options.dry_run) return print_plan(todo, "get");
  std::error_code problem;
  fs::create_directories(places.folder, problem);
  if (problem) return cannot_open_folder(places.folder, problem.value());
  expect_transfers(context, todo, stored);
  const auto transfer = [&](size_t i) {
    const std::string& name = todo.transfers[i];
    return get_file(context, places, name, stored.files.at(name));
  };
  GM_TRY(run_transfers(context.options.jobs, todo.transfers.size(), transfer));
  for (const std::string& name : todo.removals) {
    GM_TRY(remove_file_below(places.folder, name));
    context.log.line(Log::kAlways, "deleted " + in_quotes(places.folder + "/" + name));
  }
  report(context, todo);
  return {};
}

}  // namespace gridmount::tools

// libfuse's callbacks. Each turns a request into a call of FileSystem, and the result into a reply.
//
// A reply may give the kernel a lookup count or a handle. If the reply fails, the callback takes
// them back. A reply fails if the caller was interrupted and the kernel no longer waits.
#include "fuse/kernel/fuse_frontend.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "engine/base/log.h"
#include "fuse/errno.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_changes.h"

namespace gridmount::fuse {

void reply_error(fuse_req_t request, const char* operation, fuse_ino_t ino, const char* name,
                 const Error& error) {
  const int error_number = errno_of(error.code());
  context_of(request).statistics.count_error(operation, error_number);
  if (!is_ordinary(error_number)) {
    log::warn("{} of node {}{}{}: {} ({})", operation, ino, name ? " name " : "", name ? name : "",
              error.message(), strerrordesc_np(error_number));
  }
  fuse_reply_err(request, error_number);
}

void reply_status(fuse_req_t request, const char* operation, fuse_ino_t ino, const char* name,
                  const Status& status) {
  if (!status) return reply_error(request, operation, ino, name, status.error());
  fuse_reply_err(request, 0);
}

struct stat stat_of(uint64_t ino, const gridfs::Attributes& attributes) {
  struct stat result {};
  result.st_ino = ino;
  result.st_mode = attributes.mode;
  result.st_nlink = attributes.nlink;
  result.st_uid = attributes.uid;
  result.st_gid = attributes.gid;
  result.st_rdev = attributes.rdev;
  result.st_size = attributes.size;
  result.st_blocks = attributes.blocks;
  result.st_blksize = gridfs::kBlockBytes;
  result.st_atim = attributes.atime;
  result.st_mtim = attributes.mtime;
  result.st_ctim = attributes.ctime;
  return result;
}

thread_local uint64_t changes_before_request = 0;

void begin_request(const FileSystem& file_system) {
  changes_before_request = file_system.changes_noted();
}

double cache_seconds_of(const FileSystem& file_system, double seconds) {
  return file_system.changes_noted() == changes_before_request ? seconds : 0;
}

// The kernel keeps attributes for this time if free space is scarce, so that it does not ask before
// each of many small writes. The kernel rounds the time up to the ticks of its clock (4
// milliseconds on Debian), and may accept some tens of megabytes in two ticks.
constexpr double kShortCacheSeconds = 0.001;

double attribute_seconds(fuse_req_t request, const EntryReply& entry) {
  if (entry.attributes_pass) return 0;
  const FileSystem& file_system = file_system_of(request);
  const double seconds = cache_seconds_of(file_system, entry.cache_seconds);
  switch (file_system.writer_cache(entry.ino)) {
    case FileSystem::WriterCache::kUsual:
      break;
    case FileSystem::WriterCache::kShort:
      return std::min(seconds, kShortCacheSeconds);
    case FileSystem::WriterCache::kNone:
      return 0;
  }
  return seconds;
}

void record_reply(fuse_req_t request, uint64_t directory) {
  context_of(request).attr_replies.sent(directory, fuse_req_ctx(request)->pid);
}

fuse_entry_param entry_param_of(fuse_req_t request, const EntryReply& entry) {
  fuse_entry_param param{};
  param.ino = entry.ino;
  param.attr = stat_of(entry.ino, entry.attributes);
  param.attr_timeout = attribute_seconds(request, entry);
  param.entry_timeout = cache_seconds_of(file_system_of(request), entry.cache_seconds);
  return param;
}

namespace {

// statfs counts in these blocks. They are also the pages of all supported machines.
constexpr unsigned long kStatfsBlockBytes = gridfs::kBlockBytes;
// The limit of writev(2), minus the reply's header.
constexpr size_t kMaxPieces = IOV_MAX - 1;

gridfs::Creator caller_of(fuse_req_t request) {
  const fuse_ctx* caller = fuse_req_ctx(request);
  return {.uid = caller->uid, .gid = caller->gid, .umask = caller->umask};
}

FileHandle* file_of(const fuse_file_info* info) {
  return info == nullptr ? nullptr : handle_of<FileHandle>(info);
}

void reply_entry(fuse_req_t request, const EntryReply& entry) {
  const fuse_entry_param param = entry_param_of(request, entry);
  FileSystem& file_system = file_system_of(request);
  if (fuse_reply_entry(request, &param) != 0) file_system.forget(entry.ino, 1);
}

void reply_made(fuse_req_t request, const char* operation, fuse_ino_t parent, const char* name,
                const Result<EntryReply>& made) {
  if (!made) return reply_error(request, operation, parent, name, made.error());
  reply_entry(request, *made);
}

// Must be called with the result of a change of a directory's names, before the reply.
template <typename Changed>
Changed of_directory(fuse_req_t request, fuse_ino_t directory, Changed changed) {
  FrontendContext& context = context_of(request);
  const pid_t thread = fuse_req_ctx(request)->pid;
  if (changed && context.attr_replies.was_sent_to_another(directory, thread)) {
    context.invalidate_attributes(directory);
  }
  return changed;
}

// Answers a look-up of "." or "..": the kernel knows only a node's ino, and asks for the node or
// its parent.
void reply_by_ino(fuse_req_t request, fuse_ino_t ino, const char* name) {
  FileSystem& file_system = file_system_of(request);
  const bool is_parent = std::string_view(name) == "..";
  reply_made(request, "lookup", ino, name,
             is_parent ? file_system.lookup_parent(ino) : file_system.lookup_ino(ino));
}

void handle_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  guarded(request, "lookup", parent, name, [&] {
    const std::string_view given = name;
    if (given == "." || given == "..") return reply_by_ino(request, parent, name);
    FileSystem& file_system = file_system_of(request);
    Result<EntryReply> found = file_system.lookup(parent, name);
    if (!found && errno_of(found.error().code()) == ENOENT) {
      const double seconds = cache_seconds_of(file_system, file_system.absence_seconds(parent));
      if (seconds > 0) {
        // An entry without an ino makes the kernel remember that the name does not exist.
        fuse_entry_param absent{};
        absent.entry_timeout = seconds;
        context_of(request).statistics.count_error("lookup", ENOENT);
        fuse_reply_entry(request, &absent);
        return;
      }
    }
    if (found && S_ISDIR(found->attributes.mode)) record_reply(request, found->ino);
    reply_made(request, "lookup", parent, name, found);
  });
}

void handle_forget(fuse_req_t request, fuse_ino_t ino, uint64_t lookups) {
  const Measurement measurement(context_of(request).statistics, "forget");
  file_system_of(request).forget(ino, lookups);
  fuse_reply_none(request);
}

void handle_forget_multi(fuse_req_t request, size_t count, fuse_forget_data* forgets) {
  const Measurement measurement(context_of(request).statistics, "forget_multi");
  FileSystem& file_system = file_system_of(request);
  for (size_t i = 0; i < count; ++i) file_system.forget(forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(request);
}

void reply_attributes(fuse_req_t request, fuse_ino_t ino, const FileHandle* file) {
  record_reply(request, ino);
  Result<EntryReply> entry = file_system_of(request).getattr(ino, file);
  if (!entry) return reply_error(request, "getattr", ino, nullptr, entry.error());
  if (S_ISDIR(entry->attributes.mode)) record_reply(request, ino);
  const struct stat attributes = stat_of(ino, entry->attributes);
  fuse_reply_attr(request, &attributes, attribute_seconds(request, *entry));
}

void answer_getattr(fuse_req_t request, fuse_ino_t ino, const FileHandle* file) {
  guarded(request, "getattr", ino, [&] { reply_attributes(request, ino, file); });
}

// The kernel requests attributes with the handle before it accepts written data.
void answer_writer(fuse_req_t request, fuse_ino_t ino, FileHandle& file) {
  guarded(request, "getattr", ino, [&] {
    FrontendContext& context = context_of(request);
    const Status room = context.file_system.expect_room(file, [&] { context.write_back(ino); });
    if (!room) return reply_error(request, "write", ino, nullptr, room.error());
    reply_attributes(request, ino, &file);
  });
}

void handle_getattr(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  FileHandle* const file = file_of(info);
  if (file == nullptr || !file_system_of(request).expects_room(*file)) {
    return answer_getattr(request, ino, file);
  }
  // Another thread answers the request, because the writeback by the kernel needs threads of the
  // session. The file stays open until this request is answered.
  bool added = false;
  try {
    added = context_of(request).parked_for_writes.add([=] { answer_writer(request, ino, *file); });
  } catch (const std::bad_alloc&) {
    return reply_error(request, "getattr", ino, nullptr,
                       Error(kOutOfMemory, "there is not enough memory"));
  }
  // The mount is ending.
  if (!added) answer_getattr(request, ino, file);
}

// Returns true if this call removes set-user-ID although it changes no other attribute. chown(2)
// with neither an owner nor a group does so, and only the owner may call it. The kernel leaves both
// checks to the daemon. For a regular file, the kernel sends this call as a setattr of the ctime
// alone, and sends no other call like that. It sends a setattr of nothing before it writes to a
// regular file.
Result<bool> clears_set_id_alone(fuse_req_t request, fuse_ino_t ino, FileHandle* file, int to_set) {
  if ((to_set & ~FUSE_SET_ATTR_CTIME) != 0) return false;
  GM_ASSIGN(const EntryReply entry, file_system_of(request).getattr(ino, file));
  const gridfs::Attributes& now = entry.attributes;
  if (gridfs::without_set_id(now.mode, now.gid, group_check_of(request)) == now.mode) return false;
  const bool is_write = to_set == 0 && S_ISREG(now.mode);
  const uid_t caller = fuse_req_ctx(request)->uid;
  if (!is_write && caller != 0 && caller != now.uid) {
    return fail(kNotPermitted, "only the owner may change the set-user-ID and set-group-ID bits");
  }
  return true;
}

void handle_setattr(fuse_req_t request, fuse_ino_t ino, struct stat* wanted, int to_set,
                    fuse_file_info* info) {
  guarded(request, "setattr", ino, [&] {
    const timespec now = gridfs::file_time_now();
    gridfs::AttributeChanges changes;
    if (to_set & FUSE_SET_ATTR_MODE) changes.permissions = wanted->st_mode & 07777;
    if (to_set & FUSE_SET_ATTR_UID) changes.uid = wanted->st_uid;
    if (to_set & FUSE_SET_ATTR_GID) changes.gid = wanted->st_gid;
    if (to_set & FUSE_SET_ATTR_SIZE) changes.size = wanted->st_size;
    if (to_set & FUSE_SET_ATTR_ATIME) changes.atime = gridfs::nearest_kept(wanted->st_atim);
    if (to_set & FUSE_SET_ATTR_MTIME) changes.mtime = gridfs::nearest_kept(wanted->st_mtim);
    if (to_set & FUSE_SET_ATTR_ATIME_NOW) changes.atime = now;
    if (to_set & FUSE_SET_ATTR_MTIME_NOW) changes.mtime = now;
    if (to_set & FUSE_SET_ATTR_CTIME) changes.ctime = gridfs::nearest_kept(wanted->st_ctim);
    const Result<bool> clears = clears_set_id_alone(request, ino, file_of(info), to_set);
    if (!clears) return reply_error(request, "setattr", ino, nullptr, clears.error());
    changes.clears_set_id =
        *clears || changes.uid || changes.gid || (changes.size && !may_keep_set_id(request));
    changes.may_keep_group_id = group_check_of(request);
    Result<EntryReply> entry = file_system_of(request).setattr(ino, file_of(info), changes);
    if (!entry) return reply_error(request, "setattr", ino, nullptr, entry.error());
    const struct stat attributes = stat_of(ino, entry->attributes);
    fuse_reply_attr(request, &attributes, attribute_seconds(request, *entry));
  });
}

void handle_readlink(fuse_req_t request, fuse_ino_t ino) {
  guarded(request, "readlink", ino, [&] {
    Result<std::string> target = file_system_of(request).readlink(ino);
    if (!target) return reply_error(request, "readlink", ino, nullptr, target.error());
    fuse_reply_readlink(request, target->c_str());
  });
}

void handle_mknod(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode,
                  dev_t rdev) {
  guarded(request, "mknod", parent, name, [&] {
    FileSystem& file_system = file_system_of(request);
    const gridfs::Creator caller = caller_of(request);
    Result<EntryReply> made = S_ISREG(mode)
                                  ? file_system.create_file(parent, name, mode & 07777, caller)
                                  : file_system.mknod(parent, name, mode, rdev, caller);
    reply_made(request, "mknod", parent, name, of_directory(request, parent, std::move(made)));
  });
}

void handle_mkdir(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  guarded(request, "mkdir", parent, name, [&] {
    reply_made(request, "mkdir", parent, name,
               of_directory(
                   request, parent,
                   file_system_of(request).mkdir(parent, name, mode & 07777, caller_of(request))));
  });
}

void handle_symlink(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
  guarded(request, "symlink", parent, name, [&] {
    reply_made(
        request, "symlink", parent, name,
        of_directory(request, parent,
                     file_system_of(request).symlink(parent, name, target, caller_of(request))));
  });
}

void handle_link(fuse_req_t request, fuse_ino_t ino, fuse_ino_t parent, const char* name) {
  guarded(request, "link", ino, name, [&] {
    reply_made(request, "link", ino, name,
               of_directory(request, parent, file_system_of(request).link(ino, parent, name)));
  });
}

void handle_unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
  guarded(request, "unlink", parent, name, [&] {
    reply_status(request, "unlink", parent, name,
                 of_directory(request, parent, file_system_of(request).unlink(parent, name)));
  });
}

void handle_rmdir(fuse_req_t request, fuse_ino_t parent, const char* name) {
  guarded(request, "rmdir", parent, name, [&] {
    reply_status(request, "rmdir", parent, name,
                 of_directory(request, parent, file_system_of(request).rmdir(parent, name)));
  });
}

void handle_rename(fuse_req_t request, fuse_ino_t from, const char* from_name, fuse_ino_t to,
                   const char* to_name, unsigned flags) {
  guarded(request, "rename", from, from_name, [&] {
    auto mode = gridfs::RenameMode::kReplace;
    const bool is_covered = (flags & RENAME_WHITEOUT) != 0;
    const unsigned other_flags = flags & ~static_cast<unsigned>(RENAME_WHITEOUT);
    if (other_flags == RENAME_NOREPLACE) mode = gridfs::RenameMode::kNoReplace;
    if (other_flags == RENAME_EXCHANGE) mode = gridfs::RenameMode::kExchange;
    const bool is_unknown = other_flags != 0 && mode == gridfs::RenameMode::kReplace;
    if (is_unknown || (is_covered && mode == gridfs::RenameMode::kExchange)) {
      return reply_error(
          request, "rename", from, from_name,
          Error(kInvalidArgument,
                "rename supports NOREPLACE, EXCHANGE and WHITEOUT, and EXCHANGE excludes "
                "the others"));
    }
    FileSystem::Whiteout whiteout;
    if (is_covered) whiteout = caller_of(request);
    reply_status(request, "rename", from, from_name,
                 of_directory(request, from,
                              of_directory(request, to,
                                           file_system_of(request).rename(
                                               from, from_name, to, to_name, mode, whiteout))));
  });
}

void set_handle(fuse_req_t request, fuse_file_info* info, FileHandle* file) {
  info->fh = reinterpret_cast<uint64_t>(file);
  // The kernel's cache of the file is still right, unless others write to the store too. A file of
  // the control directory may show a file that is being written.
  FileSystem& file_system = file_system_of(request);
  info->keep_cache = file->is_control || file_system.needs_every_read() ? 0 : 1;
  if (!file_system.is_shared() || file->is_control || file_system.record_cached_content(*file))
    return;
  info->keep_cache = 0;
  // The kernel opens files with cached attributes. It requests dropped attributes before it uses
  // them again.
  context_of(request).invalidate_attributes(file->ino);
}

void handle_open(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  guarded(request, "open", ino, [&] {
    FileSystem& file_system = file_system_of(request);
    Result<FileHandle*> file = file_system.open(ino, info->flags);
    if (!file) return reply_error(request, "open", ino, nullptr, file.error());
    set_handle(request, info, *file);
    if (file_system.begins_to_ask(ino)) context_of(request).invalidate_attributes(ino);
    if (fuse_reply_open(request, info) != 0) file_system.release(*file);
  });
}

void handle_create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode,
                   fuse_file_info* info) {
  guarded(request, "create", parent, name, [&] {
    FileSystem& file_system = file_system_of(request);
    const bool is_tmpfile = (info->flags & O_TMPFILE) == O_TMPFILE;
    auto created =
        is_tmpfile
            ? file_system.create_tmpfile(parent, mode & 07777, info->flags, caller_of(request))
            : of_directory(
                  request, parent,
                  file_system.create(parent, name, mode & 07777, info->flags, caller_of(request)));
    if (!created) return reply_error(request, "create", parent, name, created.error());
    const auto& [entry, file] = *created;
    set_handle(request, info, file);
    const fuse_entry_param param = entry_param_of(request, entry);
    if (fuse_reply_create(request, &param, info) != 0) {
      file_system.release(file);
      file_system.forget(entry.ino, 1);
    }
  });
}

void handle_read(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset,
                 fuse_file_info* info) {
  guarded(request, "read", ino, [&] {
    // The result is kept until the reply has been sent.
    Result<gridfs::ReadResult> data = file_system_of(request).read(*file_of(info), offset, size);
    if (!data) return reply_error(request, "read", ino, nullptr, data.error());
    const std::vector<iovec>& pieces = data->pieces();
    if (pieces.size() <= kMaxPieces) {
      fuse_reply_iov(request, pieces.data(), static_cast<int>(pieces.size()));
      return;
    }
    // The chunks are so small that one reply would have more pieces than writev(2) accepts.
    std::string joined;
    joined.reserve(data->size());
    for (const iovec& piece : pieces) {
      joined.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    }
    fuse_reply_buf(request, joined.data(), joined.size());
  });
}

// The bytes are in libfuse's receive buffer. They are copied once, into the file's chunks.
void handle_write(fuse_req_t request, fuse_ino_t ino, const char* bytes, size_t size, off_t offset,
                  fuse_file_info* info) {
  FrontendContext& context = context_of(request);
  context.writes_begun.fetch_add(1, std::memory_order_relaxed);
  guarded(request, "write", ino, [&] {
    // For a file with a set-user-ID or set-group-ID bit, the kernel sends each write(2) at once.
    // libfuse does not pass on the kernel's flag for the removal of the bits, so this check removes
    // them.
    if (!info->writepage && !may_keep_set_id(request)) {
      const Status cleared =
          context.file_system.clear_set_id(*file_of(info), group_check_of(request));
      if (!cleared) return reply_error(request, "write", ino, nullptr, cleared.error());
    }
    Status written = context.file_system.write(*file_of(info), offset,
                                               {reinterpret_cast<const uint8_t*>(bytes), size});
    if (context.file_system.begins_to_ask(ino)) context.invalidate_attributes(ino);
    if (!written) return reply_error(request, "write", ino, nullptr, written.error());
    fuse_reply_write(request, size);
  });
  context.writes_ended.fetch_add(1, std::memory_order_relaxed);
  context.bytes_written.fetch_add(size, std::memory_order_relaxed);
}

// Must be called before the reply, so that the process that closed the file sees the new
// attributes.
void record_close(fuse_req_t request, fuse_ino_t ino, FileHandle& file,
                  FileSystem::Closing closing) {
  if (file_system_of(request).record_close(file, closing)) {
    context_of(request).invalidate_attributes(ino);
  }
}

void handle_flush(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  guarded(request, "flush", ino, [&] {
    FileHandle& file = *file_of(info);
    record_close(request, ino, file, FileSystem::Closing::kByOne);
    const Status flushed = file.for_writing ? file.file()->flush() : Status();
    FileSystem& file_system = file_system_of(request);
    // The new content was written through this mount, so the kernel has it.
    if (file_system.is_shared() && file.for_writing && !file.is_control) {
      (void)file_system.record_cached_content(file);
    }
    reply_status(request, "flush", ino, nullptr, flushed);
  });
}

void handle_release(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  guarded(request, "release", ino, [&] {
    record_close(request, ino, *file_of(info), FileSystem::Closing::kByAll);
    file_system_of(request).release(file_of(info));
    fuse_reply_err(request, 0);
  });
}

void handle_fsync(fuse_req_t request, fuse_ino_t ino, int, fuse_file_info* info) {
  guarded(request, "fsync", ino, [&] {
    reply_status(request, "fsync", ino, nullptr, file_system_of(request).fsync(*file_of(info)));
  });
}

void handle_opendir(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  guarded(request, "opendir", ino, [&] {
    FileSystem& file_system = file_system_of(request);
    Result<DirectoryHandle*> directory = file_system.opendir(ino, info->flags);
    if (!directory) return reply_error(request, "opendir", ino, nullptr, directory.error());
    info->fh = reinterpret_cast<uint64_t>(*directory);
    if ((*directory)->may_be_cached() && !file_system.needs_every_read() &&
        !file_system.is_shared()) {
      info->cache_readdir = 1;
      info->keep_cache = 1;
    }
    if (fuse_reply_open(request, info) != 0) file_system.releasedir(*directory);
  });
}

void handle_releasedir(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  guarded(request, "releasedir", ino, [&] {
    file_system_of(request).releasedir(handle_of<DirectoryHandle>(info));
    fuse_reply_err(request, 0);
  });
}

void handle_fsyncdir(fuse_req_t request, fuse_ino_t ino, int, fuse_file_info*) {
  guarded(request, "fsyncdir", ino, [&] {
    reply_status(request, "fsyncdir", ino, nullptr, file_system_of(request).make_durable());
  });
}

void handle_statfs(fuse_req_t request, fuse_ino_t ino) {
  guarded(request, "statfs", ino, [&] {
    Result<engine::StoreStats> stats = file_system_of(request).statfs();
    if (!stats) return reply_error(request, "statfs", ino, nullptr, stats.error());
    struct statvfs result {};
    result.f_bsize = kStatfsBlockBytes;
    result.f_frsize = kStatfsBlockBytes;
    result.f_blocks = static_cast<fsblkcnt_t>(stats->capacity_bytes) / kStatfsBlockBytes;
    result.f_bfree = static_cast<fsblkcnt_t>(stats->available_bytes) / kStatfsBlockBytes;
    result.f_bavail = result.f_bfree;
    result.f_namemax = gridfs::kMaxNameBytes;
    fuse_reply_statfs(request, &result);
  });
}

void handle_init(void* user_data, fuse_conn_info* connection) {
  // Capabilities that are not wanted, and why:
  // - SPLICE_*: the data is in memory already, and pipes would only copy references.
  // - AUTO_INVAL_DATA, for a store that this process owns: the kernel learns of every change of
  //   data.
  // - WRITEBACK_CACHE, for a store that others change: the kernel would own the size and the times
  //   of each file that it has cached, and would not take over the values that others set.
  // - POSIX_LOCKS and FLOCK_LOCKS: the kernel's own locks suffice for one machine.
  // - HANDLE_KILLPRIV: fuse_frontend_compat_libfuse_3_14.cc has the better version.
  // - ATOMIC_O_TRUNC: some time after the reply, the kernel would drop its cache of the file once
  //   more, and so lose what another process has written in between.
  // - ASYNC_DIO: if an asynchronous direct write continues after its call, the kernel would keep in
  //   its cache what others have read there in the meantime.
  //
  // DONT_MASK is wanted with access control lists, because a directory's default list replaces the
  // umask.
  constexpr unsigned kWanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_READDIRPLUS |
                               FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_EXPORT_SUPPORT;
  constexpr unsigned kOfOurStore = FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_EXPLICIT_INVAL_DATA;
  constexpr unsigned kOfAccessLists = FUSE_CAP_POSIX_ACL | FUSE_CAP_DONT_MASK;
  auto& context = *static_cast<FrontendContext*>(user_data);
  const FileSystem& file_system = context.file_system;
  const bool caches_symlinks = !file_system.needs_every_read() && !file_system.is_shared();
  const unsigned wanted = kWanted | (file_system.keeps_access_lists() ? kOfAccessLists : 0) |
                          (file_system.is_shared() ? FUSE_CAP_AUTO_INVAL_DATA : kOfOurStore) |
                          (caches_symlinks ? FUSE_CAP_CACHE_SYMLINKS : 0);
  connection->want = wanted & connection->capable;
  connection->max_write = 1U << 20;
  connection->max_readahead = 1U << 20;
  connection->max_background = 128;
  connection->congestion_threshold = 96;
  connection->time_gran = 1;
  // From now on, every request is answered.
  context.on_ready();
}

}  // namespace

const fuse_lowlevel_ops& frontend_operations() {
  // The operations for access (the kernel checks permissions) and for locks are left out. So
  // libfuse answers ENOSYS, and the kernel stops asking.
  static const fuse_lowlevel_ops operations = [] {
    fuse_lowlevel_ops ops{};
    ops.init = handle_init;
    ops.lookup = handle_lookup;
    ops.forget = handle_forget;
    ops.forget_multi = handle_forget_multi;
    ops.getattr = handle_getattr;
    ops.setattr = handle_setattr;
    ops.readlink = handle_readlink;
    ops.mknod = handle_mknod;
    ops.mkdir = handle_mkdir;
    ops.unlink = handle_unlink;
    ops.rmdir = handle_rmdir;
    ops.symlink = handle_symlink;
    ops.rename = handle_rename;
    ops.link = handle_link;
    ops.open = handle_open;
    ops.create = handle_create;
    ops.read = handle_read;
    ops.write = handle_write;
    ops.flush = handle_flush;
    ops.release = handle_release;
    ops.fsync = handle_fsync;
    ops.opendir = handle_opendir;
    ops.readdir = handle_readdir;
    ops.readdirplus = handle_readdirplus;
    ops.releasedir = handle_releasedir;
    ops.fsyncdir = handle_fsyncdir;
    ops.statfs = handle_statfs;
    ops.getxattr = handle_getxattr;
    ops.listxattr = handle_listxattr;
    ops.setxattr = handle_setxattr;
    ops.removexattr = handle_removexattr;
    ops.fallocate = handle_fallocate;
    ops.lseek = handle_lseek;
    ops.copy_file_range = handle_copy_file_range;
    return ops;
  }();
  return operations;
}

}  // namespace gridmount::fuse

// libfuse's callbacks for ranges of open files.
#include "fuse/kernel/fuse_frontend.h"

namespace gridmount::fuse {

void handle_fallocate(fuse_req_t request, fuse_ino_t ino, int mode, off_t offset, off_t length,
                      fuse_file_info* info) {
  guarded(request, "fallocate", ino, [&] {
    FileSystem& file_system = file_system_of(request);
    FileHandle& file = *handle_of<FileHandle>(info);
    Status done = file_system.fallocate(file, mode, offset, length);
    if (done && !may_keep_set_id(request)) {
      done = file_system.clear_set_id(file, group_check_of(request));
    }
    reply_status(request, "fallocate", ino, nullptr, done);
  });
}

namespace {

void answer_lseek(fuse_req_t request, fuse_ino_t ino, off_t offset, int whence, FileHandle& file) {
  guarded(request, "lseek", ino, [&] {
    const Result<int64_t> found = file_system_of(request).lseek(file, offset, whence);
    if (!found) return reply_error(request, "lseek", ino, nullptr, found.error());
    fuse_reply_lseek(request, *found);
  });
}

}  // namespace

void handle_lseek(fuse_req_t request, fuse_ino_t ino, off_t offset, int whence,
                  fuse_file_info* info) {
  FileHandle* const file = handle_of<FileHandle>(info);
  if (!file_system_of(request).is_open_for_writing(ino)) {
    return answer_lseek(request, ino, offset, whence, *file);
  }
  // Data that the kernel has not written back looks like a hole here. The writeback sends requests,
  // which need threads of the session, so another thread answers this request. The file stays open
  // until this request is answered.
  bool added = false;
  try {
    added = context_of(request).parked_for_writes.add([=] {
      context_of(request).write_back(ino);
      answer_lseek(request, ino, offset, whence, *file);
    });
  } catch (const std::bad_alloc&) {
    return reply_error(request, "lseek", ino, nullptr,
                       Error(kOutOfMemory, "there is not enough memory"));
  }
  // The mount is ending. Data that was not written back is lost anyway.
  if (!added) answer_lseek(request, ino, offset, whence, *file);
}

void handle_copy_file_range(fuse_req_t request, fuse_ino_t ino, off_t offset, fuse_file_info* info,
                            fuse_ino_t, off_t to_offset, fuse_file_info* to_info, size_t size,
                            int) {
  guarded(request, "copy_file_range", ino, [&] {
    FileSystem& file_system = file_system_of(request);
    FileHandle& to = *handle_of<FileHandle>(to_info);
    if (!may_keep_set_id(request)) {
      const Status cleared = file_system.clear_set_id(to, group_check_of(request));
      if (!cleared) {
        return reply_error(request, "copy_file_range", ino, nullptr, cleared.error());
      }
    }
    const Result<int64_t> copied = file_system.copy_file_range(
        *handle_of<FileHandle>(info), offset, to, to_offset, static_cast<int64_t>(size));
    if (!copied) return reply_error(request, "copy_file_range", ino, nullptr, copied.error());
    fuse_reply_write(request, static_cast<size_t>(*copied));
  });
}

}  // namespace gridmount::fuse

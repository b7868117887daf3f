// libfuse's callbacks for extended attributes.
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "fuse/kernel/fuse_frontend.h"
#include "gridfs/bucket/error.h"

namespace gridmount::fuse {

namespace {

// Replies to getxattr and listxattr. Only the size is sent if `room` is 0.
void reply_sized(fuse_req_t request, const std::string& bytes, size_t room) {
  if (room == 0) {
    fuse_reply_xattr(request, bytes.size());
  } else if (bytes.size() > room) {
    fuse_reply_err(request, ERANGE);
  } else {
    fuse_reply_buf(request, bytes.data(), bytes.size());
  }
}

bool is_in_group(fuse_req_t request, uint32_t group) {
  const fuse_ctx* const caller = fuse_req_ctx(request);
  if (caller->uid == 0 || caller->gid == group) return true;
  const int count = fuse_req_getgroups(request, 0, nullptr);
  std::vector<gid_t> groups(static_cast<size_t>(std::max(count, 0)));
  if (groups.empty() || fuse_req_getgroups(request, count, groups.data()) != count) return false;
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace

gridfs::GroupCheck group_check_of(fuse_req_t request) {
  return [request](uint32_t group) { return is_in_group(request, group); };
}

void handle_getxattr(fuse_req_t request, fuse_ino_t ino, const char* name, size_t room) {
  guarded(request, "getxattr", ino, name, [&] {
    const Result<std::string> value = file_system_of(request).getxattr(ino, name);
    if (!value) return reply_error(request, "getxattr", ino, name, value.error());
    reply_sized(request, *value, room);
  });
}

void handle_listxattr(fuse_req_t request, fuse_ino_t ino, size_t room) {
  guarded(request, "listxattr", ino, [&] {
    const Result<std::vector<std::string>> names = file_system_of(request).listxattr(ino);
    if (!names) return reply_error(request, "listxattr", ino, nullptr, names.error());
    // As in other file systems, only users who may read the trusted attributes see their names.
    const bool sees_trusted = fuse_req_ctx(request)->uid == 0;
    std::string list;
    for (const std::string& name : *names) {
      if (name.starts_with("trusted.") && !sees_trusted) continue;
      list.append(name).push_back('\0');
    }
    reply_sized(request, list, room);
  });
}

void handle_setxattr(fuse_req_t request, fuse_ino_t ino, const char* name, const char* value,
                     size_t size, int flags) {
  guarded(request, "setxattr", ino, name, [&] {
    auto mode = gridfs::XattrMode::kAny;
    if ((flags & XATTR_CREATE) != 0) mode = gridfs::XattrMode::kCreate;
    if ((flags & XATTR_REPLACE) != 0) mode = gridfs::XattrMode::kReplace;
    reply_status(
        request, "setxattr", ino, name,
        file_system_of(request).setxattr(ino, name, {value, size}, mode, group_check_of(request)));
  });
}

void handle_removexattr(fuse_req_t request, fuse_ino_t ino, const char* name) {
  guarded(request, "removexattr", ino, name, [&] {
    reply_status(request, "removexattr", ino, name, file_system_of(request).removexattr(ino, name));
  });
}

}  // namespace gridmount::fuse

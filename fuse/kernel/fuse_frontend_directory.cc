// Replies to readdir and readdirplus.
#include <string>
#include <vector>

#include "fuse/kernel/fuse_frontend.h"

namespace gridmount::fuse {

namespace {

// Fills one reply's buffer.
class ReplyLister : public FileSystem::Lister {
 public:
  ReplyLister(fuse_req_t request, size_t size, bool plus)
      : request_(request), plus_(plus), buffer_(size) {}

  bool fits(std::string_view name) override {
    name_ = name;  // with the NUL that libfuse needs
    const size_t needed =
        plus_ ? fuse_add_direntry_plus(request_, nullptr, 0, name_.c_str(), nullptr, 0)
              : fuse_add_direntry(request_, nullptr, 0, name_.c_str(), nullptr, 0);
    return needed <= buffer_.size() - used_;
  }

  void add(const ListedEntry& listed, uint64_t ino, uint32_t type,
           const EntryReply* entry) override {
    const auto next_offset = static_cast<off_t>(listed.next_offset);
    char* place = buffer_.data() + used_;
    const size_t room = buffer_.size() - used_;
    if (!plus_) {
      struct stat known {};
      known.st_ino = ino;
      known.st_mode = type;
      used_ += fuse_add_direntry(request_, place, room, name_.c_str(), &known, next_offset);
      return;
    }
    fuse_entry_param param{};
    if (entry != nullptr) {
      if (S_ISDIR(entry->attributes.mode)) record_reply(request_, entry->ino);
      param = entry_param_of(request_, *entry);
      looked_up_.push_back(entry->ino);
    } else {
      // Without an ino in the entry, the kernel takes only name and type and counts no lookup.
      param.attr.st_ino = ino;
      param.attr.st_mode = type;
    }
    used_ += fuse_add_direntry_plus(request_, place, room, name_.c_str(), &param, next_offset);
  }

  // Sends the reply. If the reply fails because the kernel no longer waits, the kernel has not
  // counted the lookups either.
  void reply() {
    FileSystem& file_system = file_system_of(request_);
    if (fuse_reply_buf(request_, buffer_.data(), used_) == 0) return;
    for (uint64_t ino : looked_up_) file_system.forget(ino, 1);
  }

 private:
  fuse_req_t request_;
  const bool plus_;
  std::vector<char> buffer_;
  size_t used_ = 0;
  std::string name_;
  std::vector<uint64_t> looked_up_;
};

void list(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, fuse_file_info* info,
          bool plus) {
  const char* operation = plus ? "readdirplus" : "readdir";
  guarded(request, operation, ino, [&] {
    auto& directory = *handle_of<DirectoryHandle>(info);
    ReplyLister lister(request, size, plus);
    Status listed =
        file_system_of(request).readdir(directory, static_cast<uint64_t>(offset), plus, lister);
    if (!listed) return reply_error(request, operation, ino, nullptr, listed.error());
    lister.reply();
  });
}

}  // namespace

void handle_readdir(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset,
                    fuse_file_info* info) {
  list(request, ino, size, offset, info, false);
}

void handle_readdirplus(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset,
                        fuse_file_info* info) {
  list(request, ino, size, offset, info, true);
}

}  // namespace gridmount::fuse

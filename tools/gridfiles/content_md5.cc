#include "tools/gridfiles/content_md5.h"

#include "gridfs/bucket/md5.h"
#include "tools/gridfiles/interruption.h"

namespace gridmount::tools {

namespace {

constexpr size_t kHashedBytes = 1024 * 1024;

// `read` returns the next bytes, and none at the end.
template <typename Read>
Result<std::string> md5_of_all(const Read& read) {
  if (!gridfs::Md5::available()) {
    return fail(ErrorCode::kIllegalOperation,
                "--checksum needs MD5, which OpenSSL refuses here; leave it out to compare times");
  }
  gridfs::Md5 digest;
  for (;;) {
    GM_TRY(Interruption::check());
    GM_ASSIGN(const auto data, read());
    if (data.empty()) return digest.hex();
    digest.update(data);
  }
}

}  // namespace

Result<std::string> md5_of(LocalInput& input) {
  return md5_of_all([&] { return input.read(); });
}

Result<std::string> md5_of(gridfs::DownloadStream& stream) {
  return md5_of_all([&] { return stream.read(kHashedBytes); });
}

}  // namespace gridmount::tools

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

Result<std::string> md5_of(LocalInput& input, Progress& progress) {
  return md5_of_all([&] {
    auto data = input.read();
    if (data) progress.add(data->size());
    return data;
  });
}

Result<std::string> md5_of(gridfs::DownloadStream& stream) {
  return md5_of_all([&] { return stream.read(kHashedBytes); });
}

}  // namespace gridmount::tools

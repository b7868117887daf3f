// Fuzzes archives of dumps: the real archive with bytes changed, its prelude followed by other
// blocks, and arbitrary bytes behind the magic number, compressed or not. Every malformed archive
// must be a parse error. Metadata that was read is written again.

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/tools/mongodump_archive.h"
#include "tools/gridstore/dump/archive_reader.h"
#include "tools/gridstore/dump/metadata_file.h"

using namespace gridmount;
using namespace gridmount::tools;

namespace {

enum class Form { kChanged, kOtherBlocks, kPlain, kCompressed, kCount };

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Changes the archive by three bytes of `data` for each change: the position and the new value.
std::string changed(std::string archive, const uint8_t* data, size_t size) {
  for (; size >= 3; data += 3, size -= 3) {
    const size_t at = (size_t{data[0]} << 8 | data[1]) % archive.size();
    archive[at] = static_cast<char>(data[2]);
  }
  return archive;
}

std::string prelude_of(const std::string& archive) {
  const std::string mark(reinterpret_cast<const char*>(&kArchiveMark), sizeof(kArchiveMark));
  return archive.substr(0, archive.find(mark) + mark.size());
}

std::string with_magic(const uint8_t* data, size_t size) {
  std::string archive(reinterpret_cast<const char*>(&kArchiveMagic), sizeof(kArchiveMagic));
  return archive.append(reinterpret_cast<const char*>(data), size);
}

Status read(const std::string& bytes, bool gzip) {
  GM_ASSIGN(auto file, InputFile::of_bytes(bytes_of(bytes), gzip));
  GM_ASSIGN(const auto reader, ArchiveReader::open(std::move(file)));
  for (const ArchivedCollection& collection : reader->collections()) {
    const Result<Metadata> metadata = Metadata::parse(collection.metadata);
    if (metadata && !Metadata::parse(metadata->to_json())) abort();
  }
  while (true) {
    GM_ASSIGN(const auto event, reader->next());
    if (!event) return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Form form{data[0] % static_cast<int>(Form::kCount)};
  ++data;
  --size;
  std::string bytes;
  switch (form) {
    case Form::kChanged:
      bytes = changed(tests::mongodump_archive(), data, size);
      break;
    case Form::kOtherBlocks:
      bytes =
          prelude_of(tests::mongodump_archive()).append(reinterpret_cast<const char*>(data), size);
      break;
    case Form::kPlain:
      bytes = with_magic(data, size);
      break;
    default:
      bytes.assign(reinterpret_cast<const char*>(data), size);
  }
  const Status done = read(bytes, form == Form::kCompressed);
  if (!done && done.error().code() != ErrorCode::kFailedToParse) abort();
  return 0;
}

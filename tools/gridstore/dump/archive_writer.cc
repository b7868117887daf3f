#include "tools/gridstore/dump/archive_writer.h"

#include <array>
#include <cstring>

#include "engine/bson/builder.h"

namespace gridmount::tools {

namespace {

std::array<uint8_t, sizeof(uint32_t)> bytes_of(uint32_t number) {
  std::array<uint8_t, sizeof(uint32_t)> bytes{};
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

}  // namespace

Status ArchiveWriter::write_prelude(const DumpOrigin& origin,
                                    std::span<const ArchivedCollection> collections) {
  GM_TRY(file_.write(bytes_of(kArchiveMagic)));
  bson::Builder header;
  header.append("concurrent_collections", int32_t{1}).append("version", kArchiveVersion);
  header.append("server_version", origin.server_version);
  header.append("tool_version", origin.tool_version);
  GM_TRY(file_.write(std::move(header).finish().view().bytes()));
  for (const ArchivedCollection& collection : collections) {
    bson::Builder line;
    line.append("db", collection.ns.database).append("collection", collection.ns.collection);
    line.append("metadata", collection.metadata).append("size", int32_t{0});
    line.append("type", collection.type);
    const bson::Document document = std::move(line).finish();
    if (document.view().size() > bson::kMaxDocumentBytes) {
      return fail(
          ErrorCode::kBsonObjectTooLarge,
          "the options and indexes of " + collection.ns.full() + " are too large for an archive");
    }
    GM_TRY(file_.write(document.view().bytes()));
  }
  return write_mark();
}

Status ArchiveWriter::begin(const engine::Namespace& ns) {
  ns_ = ns;
  crc_ = {};
  return write_header(false, 0);
}

Status ArchiveWriter::write(bson::View document) {
  crc_.add(document.bytes());
  return file_.write(document.bytes());
}

Status ArchiveWriter::end() {
  GM_TRY(write_mark());
  GM_TRY(write_header(true, crc_.value()));
  return write_mark();
}

Status ArchiveWriter::write_header(bool at_end, uint64_t crc) {
  bson::Builder header;
  header.append("db", ns_.database).append("collection", ns_.collection);
  header.append("EOF", at_end).append("CRC", static_cast<int64_t>(crc));
  return file_.write(std::move(header).finish().view().bytes());
}

Status ArchiveWriter::write_mark() {
  return file_.write(bytes_of(kArchiveMark));
}

}  // namespace gridmount::tools

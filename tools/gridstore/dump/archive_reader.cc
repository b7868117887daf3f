#include "tools/gridstore/dump/archive_reader.h"

#include <array>
#include <cstring>
#include <utility>

#include "tools/gridstore/dump/restore_item.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

using Found = DocumentReader::Found;

}  // namespace

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(std::unique_ptr<InputFile> file) {
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader(std::move(file)));
  GM_TRY(reader->read_prelude());
  return reader;
}

tl::unexpected<Error> ArchiveReader::damage(const std::string& what) const {
  return file_->damage(documents_.offset(), what);
}

Result<std::string> ArchiveReader::text_field(bson::View document, std::string_view name) const {
  const std::optional<bson::ValueView> value = document.find(name);
  if (!value || value->type() != bson::Type::kString) {
    return damage("an internal document of the archive has no text field " + in_quotes(name));
  }
  return std::string(value->as_string());
}

Status ArchiveReader::read_prelude() {
  std::array<uint8_t, sizeof(uint32_t)> bytes{};
  GM_ASSIGN(const size_t got, file_->read(bytes));
  uint32_t magic = 0;
  std::memcpy(&magic, bytes.data(), sizeof(magic));
  if (got < bytes.size() || magic != kArchiveMagic) {
    return file_->damage(0,
                         "this is not an archive of mongodump, or it is compressed (use --gzip)");
  }
  GM_ASSIGN(const Found header, documents_.next(true));
  if (header != Found::kDocument) return damage("the archive has no header");
  GM_ASSIGN(const std::string version, text_field(documents_.document(), "version"));
  if (version != kArchiveVersion) {
    return damage("archives of version " + in_quotes(version) + " are not supported");
  }
  GM_ASSIGN(origin_.server_version, text_field(documents_.document(), "server_version"));
  GM_ASSIGN(origin_.tool_version, text_field(documents_.document(), "tool_version"));
  while (true) {
    GM_ASSIGN(const Found found, documents_.next(true));
    if (found == Found::kMark) return {};
    if (found == Found::kEnd) return damage("the archive ends within its prelude");
    if (file_->offset() > kPreludeBytesMax) {
      return damage("the prelude has more than " + std::to_string(kPreludeBytesMax) + " bytes");
    }
    const bson::View line = documents_.document();
    ArchivedCollection collection;
    GM_ASSIGN(collection.ns.database, text_field(line, "db"));
    GM_ASSIGN(collection.ns.collection, text_field(line, "collection"));
    GM_ASSIGN(collection.metadata, text_field(line, "metadata"));
    if (line.find("type")) {
      GM_ASSIGN(collection.type, text_field(line, "type"));
    }
    engine::Namespace data = collection.ns;
    // The documents of a time series are in a separate collection.
    if (collection.type == "timeseries") data.collection.insert(0, kTimeSeriesPrefix);
    if (!states_.try_emplace(data).second) {
      return damage("the prelude names " + in_quotes(data.full()) + " twice");
    }
    collections_.push_back(std::move(collection));
  }
}

Result<std::optional<ArchiveReader::Event>> ArchiveReader::next() {
  while (true) {
    if (end_crc_) return end_collection(*std::exchange(end_crc_, std::nullopt));
    GM_ASSIGN(const Found found, documents_.next(true));
    if (!in_block_) {
      if (found == Found::kEnd) {
        GM_TRY(check_all_ended());
        return std::optional<Event>();
      }
      if (found == Found::kMark) return damage("a block has no header");
      GM_ASSIGN(std::optional<Event> event, begin_block());
      if (event) return event;
      continue;
    }
    if (found == Found::kEnd) {
      return damage("the archive ends within a block of " + in_quotes(current_->first.full()));
    }
    if (found == Found::kMark) {
      in_block_ = false;
      continue;
    }
    if (block_ends_) {
      return damage("the archive has documents of " + in_quotes(current_->first.full()) +
                    " after the collection has ended");
    }
    current_->second.crc.add(documents_.document().bytes());
    return Event{Event::Kind::kDocument, current_->first, documents_.document()};
  }
}

Result<std::optional<ArchiveReader::Event>> ArchiveReader::begin_block() {
  const bson::View header = documents_.document();
  engine::Namespace ns;
  GM_ASSIGN(ns.database, text_field(header, "db"));
  GM_ASSIGN(ns.collection, text_field(header, "collection"));
  const std::optional<bson::ValueView> ends = header.find("EOF");
  const std::optional<bson::ValueView> crc = header.find("CRC");
  if (!ends || ends->type() != bson::Type::kBool || !crc || crc->type() != bson::Type::kInt64) {
    return damage("the header of a block lacks EOF or CRC");
  }
  current_ = states_.find(ns);
  if (current_ == states_.end()) {
    return damage("the prelude does not name " + in_quotes(ns.full()));
  }
  State& state = current_->second;
  if (state.ended) {
    return damage("a block of " + in_quotes(ns.full()) + " comes after the collection has ended");
  }
  in_block_ = true;
  block_ends_ = ends->as_bool();
  if (block_ends_) end_crc_ = static_cast<uint64_t>(crc->as_int64());
  if (std::exchange(state.begun, true)) return std::optional<Event>();
  return std::optional(Event{Event::Kind::kBegins, current_->first, {}});
}

Result<std::optional<ArchiveReader::Event>> ArchiveReader::end_collection(uint64_t crc) {
  const std::string name = in_quotes(current_->first.full());
  if (current_->second.crc.value() != crc) {
    return damage("the documents of " + name +
                  " are damaged: their checksum differs from the one in the archive");
  }
  current_->second.ended = true;
  return std::optional(Event{Event::Kind::kEnds, current_->first, {}});
}

Status ArchiveReader::check_all_ended() const {
  for (const auto& [ns, state] : states_) {
    if (!state.ended) return damage("the archive ends before " + in_quotes(ns.full()) + " does");
  }
  return {};
}

}  // namespace gridmount::tools

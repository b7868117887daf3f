// Reads an archive (see archive_format.h) document by document, in the order of the file. The
// documents of several collections may alternate.
//
// The functions fail as InputFile::read() does, and with FailedToParse if the file is truncated,
// damaged or not an archive of the version kArchiveVersion. The message has the name of the file
// and the offset of the byte. The documents of a collection are known to be intact only after the
// event kEnds of this collection, because only then their checksum has been compared.
//
// Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "tools/gridstore/dump/archive_format.h"
#include "tools/gridstore/dump/crc64.h"
#include "tools/gridstore/dump/document_reader.h"
#include "tools/gridstore/dump/input_file.h"

namespace gridmount::tools {

// The maximum size of the prelude in bytes. A prelude of 100,000 collections has a tenth of this
// size.
inline constexpr uint64_t kPreludeBytesMax = 256 * 1024 * 1024;

class ArchiveReader {
 public:
  // Opens the archive and reads its prelude.
  static Result<std::unique_ptr<ArchiveReader>> open(std::unique_ptr<InputFile> file);

  const std::vector<ArchivedCollection>& collections() const { return collections_; }
  const DumpOrigin& origin() const { return origin_; }

  struct Event {
    enum class Kind { kBegins, kDocument, kEnds };
    Kind kind;
    // Valid as long as the reader. For a time series, unlike in collections(), the collection's
    // name begins with kTimeSeriesPrefix.
    const engine::Namespace& ns;
    bson::View document;  // valid until the next call of next()
  };
  // Returns the next event, or nothing at the end of the archive. Fails if a collection did not
  // end, or ended with a wrong checksum.
  Result<std::optional<Event>> next();

 private:
  struct State {
    bool ended = false;
    bool begun = false;
    Crc64 crc;
  };
  using States = std::map<engine::Namespace, State>;

  explicit ArchiveReader(std::unique_ptr<InputFile> file)
      : file_(std::move(file)), documents_(*file_) {}

  Status read_prelude();
  // Reads a field of a document of the archive. Fails with FailedToParse if the field is missing or
  // is not a string.
  Result<std::string> text_field(bson::View document, std::string_view name) const;
  // Interprets the header of a block, which is the last document read.
  Result<std::optional<Event>> begin_block();
  Result<std::optional<Event>> end_collection(uint64_t crc);
  Status check_all_ended() const;
  tl::unexpected<Error> damage(const std::string& what) const;

  std::unique_ptr<InputFile> file_;
  DocumentReader documents_;
  DumpOrigin origin_;
  std::vector<ArchivedCollection> collections_;
  States states_;
  States::iterator current_;  // collection of the block that is being read
  bool in_block_ = false;
  bool block_ends_ = false;  // the block marks the end of its collection, so it has no documents
  std::optional<uint64_t> end_crc_;  // checksum of the collection whose end must be returned next
};

}  // namespace gridmount::tools

// Reads an archive, see archive_format.h, document by document, as its collections alternate.
//
// Whatever is no archive, cut off or damaged is FailedToParse, naming the file and the byte; what
// was given before that is as it was written, but for a collection whose checksum then shows that
// it is not.
// Thread-safety: one thread at a time.
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

// What the prelude may take; that of 100,000 collections is a tenth of it.
inline constexpr uint64_t kPreludeBytesMax = 256 * 1024 * 1024;

class ArchiveReader {
 public:
  // Reads the prelude.
  static Result<std::unique_ptr<ArchiveReader>> open(std::unique_ptr<InputFile> file);

  const std::vector<ArchivedCollection>& collections() const { return collections_; }
  const DumpOrigin& origin() const { return origin_; }

  struct Event {
    enum class Kind { kBegins, kDocument, kEnds };
    Kind kind;
    const engine::Namespace& ns;  // as long as the reader lives
    bson::View document;          // until the next call
  };
  // Nothing at the end, when each collection has ended and had the right checksum.
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
  // Of a document that was read: a missing or wrong field is damage.
  Result<std::string> text_field(bson::View document, std::string_view name) const;
  // A block's header, which has been read.
  Result<std::optional<Event>> begin_block();
  Result<std::optional<Event>> end_collection(uint64_t crc);
  Status check_all_ended() const;
  tl::unexpected<Error> damage(const std::string& what) const;

  std::unique_ptr<InputFile> file_;
  DocumentReader documents_;
  DumpOrigin origin_;
  std::vector<ArchivedCollection> collections_;
  States states_;
  States::iterator current_;  // of the block that is being read
  bool in_block_ = false;
  bool block_ends_ = false;  // the block says that the collection ends, so it has no documents
  std::optional<uint64_t> end_crc_;  // of the end of a collection, which is still to be told
};

}  // namespace gridmount::tools

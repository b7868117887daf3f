// The options and arguments of gridfiles' command line.
//
// The functions are thread-safe. The types are plain values and not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "tools/gridfiles/connection_options.h"
#include "tools/gridfiles/write_concern.h"

namespace gridmount::tools {

// A range of a file's bytes, as in HTTP. At least one of the fields is set. If both are set, the
// range is from `first` to `last`, both included. If only `first` is set, the range is from `first`
// to the end of the file. If only `last` is set, the range is the last `last` bytes of the file.
struct RequestedRange {
  std::optional<int64_t> first;
  std::optional<int64_t> last;
};

// The maximum number of simultaneous transfers. This limit must be below the maximum number of
// simultaneous snapshots and transactions of a deployment's store
// (mongo::ConnectOptions::connections_max).
inline constexpr int kJobsMax = 64;

struct Options {
  bool help = false;
  bool version = false;

  std::filesystem::path store;  // empty if not given
  bool create = false;          // create the store if it does not exist

  ConnectionOptions connection;  // the connection to a server, instead of a store folder

  std::string database = "test";
  std::string prefix = "fs";  // the bucket
  std::string local;          // empty: the name in GridFS; "-": stdin or stdout
  std::string content_type;   // empty: none
  bool replace = false;       // put, put_id, cp, mv, sync_put: removes the other files of that name
  std::string regex_options;  // for get_regex
  bool overwrite_local = false;  // get: replaces an existing local file
  bool allow_unsafe_traversal = false;
  std::string write_concern_text;
  WriteConcern write_concern;  // write_concern_text, parsed

  // These options are gridfiles' own, not mongofiles'. "sync" means the commands sync_put and
  // sync_get.
  bool json = false;                     // print documents instead of lines
  std::optional<bson::Document> filter;  // only files documents that match `filter`
  std::optional<bson::Document> sort;
  std::optional<bson::Document> set;    // annotate: contentType and fields of metadata
  std::optional<RequestedRange> range;  // for cat
  bool recursive = false;               // put and get: work on whole folders
  bool checksum = false;                // sync: compare contents instead of times
  bool deletes = false;                 // sync: remove the files that the source does not have
  bool dry_run = false;                 // sync: only print what sync would do
  int jobs = 1;                         // put, get and sync: the number of simultaneous transfers
  std::optional<int> revision;          // >= 0 counts from the oldest, < 0 from the newest

  int verbosity = 0;
  bool quiet = false;

  std::vector<std::string> positionals;  // the command and its arguments, without empty arguments
};

// Fails with FailedToParse, also if both --store and a connection to a server are given. The
// message is the text that follows "error parsing command line options: ".
Result<Options> parse_options(std::span<const std::string> arguments);

// mongofiles has a separate error for a verbosity that is no number (-v=x). In this case
// parse_options() fails with kBadValue and the message kInvalidVerbosity. The program must then
// print only this message and exit with kInvalidVerbosityStatus.
inline constexpr std::string_view kInvalidVerbosity = "Invalid verbosity value given";
inline constexpr int kInvalidVerbosityStatus = 255;

// Returns the text of --help, which ends in a newline.
std::string help_text();

}  // namespace gridmount::tools

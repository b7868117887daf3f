// The options and arguments of gridfiles' command line.
//
// The functions are thread-safe. The types are plain values and not thread-safe.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "tools/gridfiles/connection_options.h"
#include "tools/gridfiles/write_concern.h"

namespace gridmount::tools {

struct Options {
  bool help = false;
  bool version = false;

  std::filesystem::path store;  // empty: not given
  bool create = false;          // create the store if it does not exist

  ConnectionOptions connection;  // to a server, instead of a store

  std::string database = "test";
  std::string prefix = "fs";     // the bucket
  std::string local;             // empty: the name in GridFS; "-": stdin or stdout
  std::string content_type;      // empty: none
  bool replace = false;          // put: the older files of the name go
  std::string regex_options;     // of get_regex
  bool overwrite_local = false;  // get: an existing local file is replaced
  bool allow_unsafe_traversal = false;
  std::string write_concern_text;
  WriteConcern write_concern;  // what that text says

  int verbosity = 0;
  bool quiet = false;

  std::vector<std::string> positionals;  // the command and its arguments, empty ones left out
};

// FailedToParse with the text that follows "error parsing command line options: ". --store and a
// connection to a server exclude each other.
Result<Options> parse_options(std::span<const std::string> arguments);

// A verbosity that is no number (-v=x) is an error of its own in mongofiles: kBadValue from
// parse_options(), this message, this exit status.
inline constexpr std::string_view kInvalidVerbosity = "Invalid verbosity value given";
inline constexpr int kInvalidVerbosityStatus = 255;

// For --help; ends in a newline.
std::string help_text();

}  // namespace gridmount::tools

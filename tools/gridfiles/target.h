// Finds a file by the _id on the command line, for get_id and delete_id. Checks that the name of a
// file does not lead out of the current folder.
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "tools/gridfiles/command.h"

namespace gridmount::tools {

struct Target {
  bson::Value id;
  std::string name;    // the filename, empty if it has none
  uint64_t bytes = 0;  // the length, 0 if it has none
};

// The document must have an _id.
Target target_of(bson::View files_document);

// Returns the file with the _id that is written on the command line. If there is none, fails with
// FileNotFound and the message "no such file with _id: `ID`". Also fails with the errors of
// parse_file_id(), check_traversal() and the store. So delete_id, too, needs --allowUnsafeTraversal
// for a name that leads out of the current folder.
Result<Target> find_target_by_id(const CommandContext& context, const std::string& id_text);

// Fails with IllegalOperation for a name that leads out of the current folder, or only warns with
// --allowUnsafeTraversal. Like mongofiles, looks only at the name and follows no links. Fails with
// IoError if there is no current folder.
Status check_traversal(const CommandContext& context, const std::string& name);

}  // namespace gridmount::tools

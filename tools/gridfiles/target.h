// The files that get_id, get_regex and delete_id work on.
#pragma once

#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "tools/gridfiles/command.h"

namespace gridmount::tools {

struct Target {
  bson::Value id;
  std::string name;  // the filename, empty if it has none
};

Target target_of(bson::View files_document);

// The file that an _id on the command line names, with check_traversal(). An error "no such file
// with _id: `ID`" if there is none.
Result<Target> find_target_by_id(const CommandContext& context, const std::string& id_text);

// Refuses a name that lies outside the current folder, or warns if --allowUnsafeTraversal is given.
// Purely by the name, as mongofiles does: links are not followed.
Status check_traversal(const CommandContext& context, const std::string& name);

}  // namespace gridmount::tools

// Prints documents on stdout, one on each line.
//
// Not thread-safe.
#pragma once

#include <memory>

#include "command_line/exit_status.h"
#include "engine/base/error.h"
#include "engine/bson/json.h"
#include "tools/gridstore/documents/found_documents.h"

namespace gridmount::tools {

// Prints all documents as Extended JSON. Reports failures on stderr, except that stdout cannot be
// written: the caller of the subcommand reports this. The first failure ends the printing. Returns
// the status of the subcommand.
ExitStatus print_json_lines(Result<std::unique_ptr<FoundDocuments>> found, bson::JsonForm form);

}  // namespace gridmount::tools

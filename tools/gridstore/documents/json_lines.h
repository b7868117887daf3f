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

// Prints all documents as Extended JSON. The first failure ends the printing. Reports each failure
// on stderr, except a failed write to stdout, which the caller must report (after_flush(),
// guarded_run.h). Returns the status of the subcommand, which is kStoreDamaged if damaged documents
// were left out and all others were printed.
ExitStatus print_json_lines(Result<std::unique_ptr<FoundDocuments>> found, bson::JsonForm form);

}  // namespace gridmount::tools

// Writes the output of commands to standard output: lines for people and programs.
//
// Not thread-safe: only the main thread prints.
#pragma once

#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::tools {

// Appends the line to standard output, which may keep it until flush_output(). Adds the line's end.
// Fails with kIoError if standard output cannot be written, for example because its disk is full.
Status print_line(std::string line);
// Prints the document as one line of relaxed Extended JSON.
Status print_json(bson::View document);
// Writes everything that was printed. Fails with kIoError.
Status flush_output();

}  // namespace gridmount::tools

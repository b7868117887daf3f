#include "tools/gridstore/check/findings.h"

#include <cstdio>

#include "engine/base/counted.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/local/integrity/structure_check.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

void append_count(bson::Builder& builder, std::string_view key, uint64_t count) {
  builder.append(key, static_cast<int64_t>(count));
}

}  // namespace

// If stdout cannot be written, after_flush() changes the exit status (guarded_run.h).
void Findings::print_line(const std::string& line) const {
  hide_progress();
  fwrite(line.data(), 1, line.size(), stdout);
  fputc('\n', stdout);
}

void Findings::print_plain(const char* kind, const char* field, const std::string& what) const {
  if (format_ == Format::kNone) return;
  if (format_ == Format::kText) {
    print_line(std::string(kind) + ": " + what);
    return;
  }
  bson::Builder line;
  // In JSON, the kind is a single word.
  line.append("kind", kind == std::string_view("beyond repair") ? "beyondRepair" : kind);
  line.append(field, what);
  print_line(bson::to_json(std::move(line).finish(), bson::JsonForm::kRelaxed));
}

void Findings::structure_problem(const std::string& what) {
  ++structure_problems_;
  print_plain("structure", "problem", what);
}

void Findings::repaired(const std::string& what) const {
  print_plain("repaired", "repaired", what);
}

void Findings::repaired(const Location& place, const std::string& what) const {
  print_content("repaired", place, what);
}

void Findings::unrepairable(const std::string& what) {
  unrepairable_ = true;
  print_plain("beyond repair", "problem", what);
}

void Findings::kept_in(const std::string& folder) const {
  print_plain("kept", "folder", folder);
}

void Findings::content_problem(const Location& place, const std::string& what) {
  ++content_problems_;
  print_content("content", place, what);
}

void Findings::notice(const Location& place, const std::string& what) {
  print_content("notice", place, what);
}

void Findings::print_content(const char* kind, const Location& place,
                             const std::string& what) const {
  if (format_ == Format::kNone) return;
  if (format_ == Format::kText) {
    std::string line = std::string(kind) + ": " + place.database + "." + place.bucket + ": ";
    if (place.file_id) {
      line += "file " + bson::to_json(place.file_id->view(), bson::JsonForm::kRelaxed);
      if (place.filename) line += " " + in_quotes(*place.filename);
      line += ": ";
    }
    print_line(line + what);
    return;
  }
  bson::Builder line;
  line.append("kind", kind).append("database", place.database).append("bucket", place.bucket);
  if (place.file_id) line.append("file", *place.file_id);
  if (place.filename) line.append("filename", *place.filename);
  line.append(kind == std::string_view("content") ? "problem" : kind, what);
  print_line(bson::to_json(std::move(line).finish(), bson::JsonForm::kRelaxed));
}

void Findings::print_summary(const local::StructureReport* structure) const {
  if (format_ == Format::kText) {
    uint64_t problems = structure_problems_ + content_problems_;
    std::string records;
    if (structure != nullptr) {
      records = counted(structure->collections, "collection") + ", " +
                counted(structure->records, "record") + ", " +
                counted(structure->index_entries, "index entry", "index entries") + "; ";
    }
    print_line("read " + records + counted(counts_.buckets, "bucket") + ", " +
               counted(counts_.files, "file") + ", " + counted(counts_.chunks, "chunk") + " with " +
               counted(counts_.chunk_bytes, "byte") + ", " +
               counted(counts_.folders, "directory", "directories"));
    print_line(problems == 0 ? "no problems"
               : structure == nullptr && structure_problems_ == 0
                   ? counted(content_problems_, "problem") + " in the content"
                   : counted(structure_problems_, "problem") + " in the structure, " +
                         std::to_string(content_problems_) + " in the content");
    return;
  }
  bson::Builder line;
  line.append("kind", "summary");
  if (structure != nullptr) {
    append_count(line, "collections", structure->collections);
    append_count(line, "records", structure->records);
    append_count(line, "indexEntries", structure->index_entries);
  }
  append_count(line, "buckets", counts_.buckets);
  append_count(line, "files", counts_.files);
  append_count(line, "chunks", counts_.chunks);
  append_count(line, "chunkBytes", counts_.chunk_bytes);
  append_count(line, "folders", counts_.folders);
  append_count(line, "detached", counts_.detached);
  if (structure != nullptr || structure_problems_ > 0) {
    append_count(line, "structureProblems", structure_problems_);
  }
  append_count(line, "contentProblems", content_problems_);
  print_line(bson::to_json(std::move(line).finish(), bson::JsonForm::kRelaxed));
}

ExitStatus Findings::exit_status() const {
  if (structure_problems_ > 0 || unrepairable_) return ExitStatus::kStructureDamaged;
  return content_problems_ > 0 ? ExitStatus::kContentDamaged : ExitStatus::kOk;
}

}  // namespace gridmount::tools

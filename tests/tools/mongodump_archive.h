// An archive as mongodump 100.18 wrote it, byte by byte, with --numParallelCollections=1, from a
// server that reported version 7.0.0: a capped collection `log "1"` with a validator, an index and
// two documents, and a view of it, `worst`.
#pragma once

#include <string>

namespace gridmount::tests {

inline constexpr char kMongodumpArchiveText[] =
    "m\342\231\201{\000\000\000\020concurrent_collections\000\001\000\000\000\002version\000"
    "\004\000\000\0000.1\000\002server_version\000\006\000\000\0007.0.0\000\002tool_versi"
    "on\000\035\000\000\000built-without-version-string\000\000\276\001\000\000\002db\000"
    "\005\000\000\000test\000\002collection\000\010\000\000\000log \"1\"\000\002metadata\000"
    "g\001\000\000{\"options\":{\"capped\":true,\"size\":{\"$numberLong\":\"4096\"},\"max"
    "\":{\"$numberLong\":\"3\"},\"validator\":{\"level\":{\"$gt\":{\"$numberInt\":\"0\"}}"
    "}},\"indexes\":[{\"v\":{\"$numberInt\":\"2\"},\"key\":{\"_id\":{\"$numberInt\":\"1\""
    "}},\"name\":\"_id_\"},{\"v\":{\"$numberInt\":\"2\"},\"key\":{\"level\":{\"$numberInt"
    "\":\"-1\"}},\"name\":\"by level\",\"sparse\":true}],\"collectionName\":\"log \\\"1\\"
    "\"\",\"type\":\"collection\"}\000\020size\000\000\000\000\000\002type\000\013\000\000"
    "\000collection\000\000\333\000\000\000\002db\000\005\000\000\000test\000\002collecti"
    "on\000\006\000\000\000worst\000\002metadata\000\214\000\000\000{\"options\":{\"viewO"
    "n\":\"log \\\"1\\\"\",\"pipeline\":[{\"$match\":{\"level\":{\"$numberInt\":\"3\"}}}]"
    "},\"indexes\":[],\"collectionName\":\"worst\",\"type\":\"view\"}\000\020size\000\000"
    "\000\000\000\002type\000\005\000\000\000view\000\000\377\377\377\377=\000\000\000\002"
    "db\000\005\000\000\000test\000\002collection\000\010\000\000\000log \"1\"\000\010EOF"
    "\000\000\022CRC\000\000\000\000\000\000\000\000\000\000\031\000\000\000\020_id\000\001"
    "\000\000\000\020level\000\002\000\000\000\000\031\000\000\000\020_id\000\002\000\000"
    "\000\020level\000\003\000\000\000\000\377\377\377\377=\000\000\000\002db\000\005\000"
    "\000\000test\000\002collection\000\010\000\000\000log \"1\"\000\010EOF\000\001\022CR"
    "C\000\005b#\344\2173\340\016\000\377\377\377\377;\000\000\000\002db\000\005\000\000\000"
    "test\000\002collection\000\006\000\000\000worst\000\010EOF\000\000\022CRC\000\000\000"
    "\000\000\000\000\000\000\000\377\377\377\377;\000\000\000\002db\000\005\000\000\000t"
    "est\000\002collection\000\006\000\000\000worst\000\010EOF\000\001\022CRC\000\000\000"
    "\000\000\000\000\000\000\000\377\377\377\377";

inline std::string mongodump_archive() {
  return std::string(kMongodumpArchiveText, sizeof(kMongodumpArchiveText) - 1);
}

// The files that mongodump wrote for these collections into a folder: `log+%221%22.metadata.json`
// and `worst.metadata.json`.
inline constexpr char kMongodumpLogMetadata[] =
    R"({"options":{"capped":true,"size":{"$numberLong":"4096"},"max":{"$numberLong":"3"},)"
    R"("validator":{"level":{"$gt":{"$numberInt":"0"}}}},"indexes":[{"v":{"$numberInt":"2"},)"
    R"("key":{"_id":{"$numberInt":"1"}},"name":"_id_"},{"v":{"$numberInt":"2"},)"
    R"("key":{"level":{"$numberInt":"-1"}},"name":"by level","sparse":true}],)"
    R"("collectionName":"log \"1\"","type":"collection"})";
inline constexpr char kMongodumpWorstMetadata[] =
    R"({"options":{"viewOn":"log \"1\"","pipeline":[{"$match":{"level":{"$numberInt":"3"}}}]},)"
    R"("indexes":[],"collectionName":"worst","type":"view"})";

}  // namespace gridmount::tests

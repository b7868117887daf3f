// Goal: expressions on strings give MongoDB's values and errors.
// Method: tables.

#include "tests/engine/query/expression_cases.h"

namespace gridmount::query {
namespace {

constexpr char kTexts[] =
    "{'_id': 1, 's': 'Hello', 'u': 'h\u00e9llo w\u00f6rld', 'e': '', 'n': null, 'i': 5, 'd': 1.5,"
    " 't': T(2020-01-31T12:30:00.005Z), 'p': 'a-b-c', 'w': '  \\t x y \\n', 'b': true,"
    " 'ts': {'$timestamp': {'t': 86400, 'i': 255}}}";

TEST(TextExpressionTest, Strings) {
  check_expressions(
      {{
          {"{'$concat': ['$s', ' ', '$u']}", "'Hello h\u00e9llo w\u00f6rld'"},
          {"{'$concat': []}", "''"},
          {"{'$concat': ['$s', '$none']}", "null"},
          {"{'$concat': ['$s', 1]}", "!16702 $concat only supports strings, not int"},
          {"{'$concat': ['$s','1','2','3','4','5','6','7','8','9']}", "'Hello123456789'"},
          {"{'$substr': ['$s', 1, 3]}", "'ell'"},
          {"{'$substrBytes': ['$s', 1, -1]}", "'ello'"},
          {"{'$substrBytes': ['$s', 9, 1]}", "''"},
          {"{'$substrBytes': ['$s', {'$numberDecimal': '1'}, {'$numberDecimal': '2.9'}]}", "'el'"},
          {"{'$substrBytes': ['$i', 0, 1]}", "'5'"},
          {"{'$substrBytes': ['$none', 0, 1]}", "''"},
          {"{'$substrBytes': ['$u', 2, 1]}", "!28656"},
          {"{'$substrBytes': ['$u', 0, 2]}", "!28657"},
          {"{'$substrBytes': ['$s', -1, 2]}", "!50752"},
          {"{'$substrBytes': ['$s', 'x', 2]}", "!16034"},
          {"{'$substrBytes': ['$s', 1, 'x']}", "!16035"},
          {"{'$substrBytes': ['$b', 0, 1]}", "!16007 can't convert from BSON type bool to String"},
          {"{'$substrCP': ['$u', 1, 2]}", "'\u00e9l'"},
          {"{'$substrCP': ['$u', 20, 2]}", "''"},
          {"{'$substrCP': ['$t', 0, 10]}", "'2020-01-31'"},
          {"{'$substrCP': ['$u', -1, 2]}", "!34455"},
          {"{'$substrCP': ['$u', 1, -2]}", "!34454"},
          {"{'$substrCP': ['$u', 1.5, 2]}", "!34451"},
          {"{'$substrCP': ['$u', 'x', 2]}", "!34450"},
          {"{'$substrCP': ['$u', 1, 2.5]}", "!34453"},
          {"{'$substrCP': ['$u', 1, null]}", "!34452"},
          {"{'$toUpper': '$u'}", "'H\u00e9LLO W\u00f6RLD'"},
          {"{'$toUpper': '$d'}", "'1.5'"},
          {"{'$toLower': '$s'}", "'hello'"},
          {"{'$toLower': '$none'}", "''"},
          {"{'$toLower': 123456.789}", "'123457'"},
          {"{'$toLower': {'$literal': {'$timestamp': {'t': 0, 'i': 42}}}}", "'jan  1 00:00:00:42'"},
          {"{'$toLower': 1e6}", "'1e+06'"},
          {"{'$toUpper': {'$literal': {'$numberDouble': '-Infinity'}}}", "'-INF'"},
          {"{'$toLower': {'$literal': {'$numberDouble': 'NaN'}}}", "'nan'"},
          {"{'$toLower': 12.5}", "'12.5'"},
          {"{'$toLower': '$ts'}", "'jan  2 00:00:00:255'"},
          {"{'$toLower': {'$literal': {}}}", "!16007"},
          {"{'$strcasecmp': ['$s', 'HELLO']}", "0"},
          {"{'$strcasecmp': ['a', 'B']}", "-1"},
          {"{'$strcasecmp': ['ab', 'A']}", "1"},
          {"{'$strcasecmp': ['$none', '']}", "0"},
          {"{'$strLenBytes': '$u'}", "13"},
          {"{'$strLenCP': '$u'}", "11"},
          {"{'$strLenCP': '$n'}", "!34471 $strLenCP requires a string argument, found: null"},
          {"{'$strLenBytes': '$none'}", "!34473"},
      }},
      kTexts);
}

TEST(TextExpressionTest, Positions) {
  check_expressions({{
                        {"{'$indexOfBytes': ['$u', 'l']}", "3"},
                        {"{'$indexOfCP': ['$u', 'l']}", "2"},
                        {"{'$indexOfBytes': ['$s', 'l', 3]}", "3"},
                        {"{'$indexOfBytes': ['$s', 'l', 0, 2]}", "-1"},
                        {"{'$indexOfBytes': ['$s', 'l', 9]}", "-1"},
                        {"{'$indexOfBytes': ['$s', 'x']}", "-1"},
                        {"{'$indexOfBytes': ['$n', 'x']}", "null"},
                        {"{'$indexOfBytes': ['$i', 'x']}", "!40091"},
                        {"{'$indexOfBytes': ['$s', 5]}", "!40092"},
                        {"{'$indexOfBytes': ['$s', 'l', 1.5]}", "!40096"},
                        {"{'$indexOfBytes': ['$s', 'l', -1]}", "!40097"},
                        {"{'$indexOfBytes': ['$e', '']}", "0"},
                        {"{'$indexOfCP': ['$u', '\u00f6', 3, 8]}", "7"},
                        {"{'$indexOfCP': ['$u', '\u00f6', 3, 7]}", "-1"},
                        {"{'$indexOfCP': ['$u', '']}", "0"},
                        {"{'$indexOfCP': ['$e', '']}", "0"},
                        {"{'$indexOfCP': ['$i', 'x']}", "!40093"},
                        {"{'$indexOfCP': ['$s', 5]}", "!40094"},
                    }},
                    kTexts);
}

TEST(TextExpressionTest, Editing) {
  check_expressions(
      {{
          {"{'$split': ['$p', '-']}", "['a', 'b', 'c']"},
          {"{'$split': ['-a-', '-']}", "['', 'a', '']"},
          {"{'$split': ['$p', 'x']}", "['a-b-c']"},
          {"{'$split': ['$n', '-']}", "null"},
          {"{'$split': ['$p', '']}", "!40087 $split requires a non-empty separator"},
          {"{'$split': [5, '-']}", "!40085"},
          {"{'$split': ['$p', 5]}", "!40086"},
          {"{'$trim': {'input': '$w'}}", "'x y'"},
          {"{'$ltrim': {'input': '$w'}}", "'x y \\n'"},
          {"{'$rtrim': {'input': '$w'}}", "'  \\t x y'"},
          {"{'$trim': {'input': '$u', 'chars': 'h\u00e9d'}}", "'llo w\u00f6rl'"},
          {"{'$trim': {'input': '$n'}}", "null"},
          {"{'$trim': {'input': '$s', 'chars': null}}", "null"},
          {"{'$trim': {'input': 5}}",
           "!50699 $trim requires its input to be a string, got 5 (of type int) instead."},
          {"{'$trim': {'input': '$s', 'chars': 5}}", "!50700"},
          {"{'$trim': {'chars': 'x'}}", "!50695"},
          {"{'$trim': {'input': '$s', 'x': 1}}", "!50694 $trim found an unknown argument: x"},
          {"{'$trim': '$s'}", "!50696"},
          {"{'$replaceOne': {'input': '$s', 'find': 'l', 'replacement': 'L'}}", "'HeLlo'"},
          {"{'$replaceAll': {'input': '$s', 'find': 'l', 'replacement': 'LL'}}", "'HeLLLLo'"},
          {"{'$replaceAll': {'input': 'ab', 'find': '', 'replacement': '-'}}", "'-a-b-'"},
          {"{'$replaceAll': {'input': '$s', 'find': 'x', 'replacement': ''}}", "'Hello'"},
          {"{'$replaceAll': {'input': '$s', 'find': null, 'replacement': ''}}", "null"},
          {"{'$replaceAll': {'input': 5, 'find': null, 'replacement': ''}}", "!51746"},
          {"{'$replaceAll': {'input': '$s', 'find': 5, 'replacement': ''}}", "!51745"},
          {"{'$replaceAll': {'input': '$s', 'find': 'l', 'replacement': 5}}", "!51744"},
          {"{'$replaceAll': {'find': 'l', 'replacement': 'x'}}", "!51749"},
          {"{'$replaceAll': {'input': 'l', 'replacement': 'x'}}", "!51748"},
          {"{'$replaceAll': {'input': 'l', 'find': 'x'}}", "!51747"},
          {"{'$replaceAll': {'input': 'l', 'find': 'x', 'y': 1}}", "!51750"},
          {"{'$replaceAll': 'l'}", "!51751"},
      }},
      kTexts);
}

TEST(TextExpressionTest, RegularExpressions) {
  check_expressions(
      {{
          {"{'$regexMatch': {'input': '$s', 'regex': 'l+'}}", "true"},
          {"{'$regexMatch': {'input': '$s', 'regex': '^h'}}", "false"},
          {"{'$regexMatch': {'input': '$s', 'regex': '^h', 'options': 'i'}}", "true"},
          {"{'$regexMatch': {'input': '$n', 'regex': '^h'}}", "false"},
          {"{'$regexMatch': {'input': '$s', 'regex': null}}", "false"},
          {"{'$regexMatch': {'input': '$s', 'regex': {'$regularExpression': {'pattern': '^H',"
           " 'options': ''}}}}",
           "true"},
          {"{'$regexMatch': {'input': '$s', 'regex': '$p'}}", "false"},
          {"{'$regexFind': {'input': '$u', 'regex': '(l)(l)|(x)'}}",
           "{'match': 'll', 'idx': 2, 'captures': ['l', 'l', null]}"},
          {"{'$regexFind': {'input': '$s', 'regex': 'x'}}", "null"},
          {"{'$regexFind': {'input': '$n', 'regex': 'x'}}", "null"},
          {"{'$regexFindAll': {'input': '$u', 'regex': '[lo]+'}}",
           "[{'match': 'llo', 'idx': 2, 'captures': []}, {'match': 'l', 'idx': 9, 'captures': "
           "[]}]"},
          {"{'$regexFindAll': {'input': 'ab', 'regex': ''}}",
           "[{'match': '', 'idx': 0, 'captures': []}, {'match': '', 'idx': 1, 'captures': []}]"},
          {"{'$regexFindAll': {'input': '$s', 'regex': 'x'}}", "[]"},
          {"{'$regexFindAll': {'input': '$none', 'regex': 'x'}}", "[]"},
          {"{'$regexMatch': {'input': 5, 'regex': 'x'}}", "!51104"},
          {"{'$regexMatch': {'input': '$s', 'regex': 5}}", "!51105"},
          {"{'$regexMatch': {'input': '$s', 'regex': 'x', 'options': 5}}", "!51106"},
          {"{'$regexMatch': {'input': '$s', 'options': 'i', 'regex': {'$regularExpression':"
           " {'pattern': 'x', 'options': 'i'}}}}",
           "!51107"},
          {"{'$regexMatch': {'input': '$s', 'regex': 'x', 'options': 'q'}}", "!51108"},
          {"{'$regexMatch': {'input': '$s', 'regex': '('}}", "!51111"},
          {"{'$regexMatch': {'regex': 'x'}}", "!31022"},
          {"{'$regexMatch': {'input': 'x'}}", "!31023"},
          {"{'$regexMatch': {'input': 'x', 'regex': 'x', 'y': 1}}", "!31024"},
          {"{'$regexMatch': 'x'}", "!51103"},
      }},
      kTexts);
}

}  // namespace
}  // namespace gridmount::query

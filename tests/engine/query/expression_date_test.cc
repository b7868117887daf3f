// Goal: expressions on dates give MongoDB's values and errors.
// Method: tables, a walk through the calendar compared with the C library, and arithmetic that must
// undo itself.

#include <ctime>
#include <random>

#include "engine/bson/builder.h"
#include "tests/engine/query/expression_cases.h"

namespace gridmount::query {
namespace {

constexpr char kDates[] =
    "{'_id': 1, 'd': T(2017-01-01T10:14:35.011Z), 'leap': T(2020-02-29T23:59:59.999Z),"
    " 'old': {'$date': {'$numberLong': '-62198755200000'}}, 'n': null, 'i': 5, 's': 'text',"
    " 'far': {'$date': {'$numberLong': '253402300800000'}}, 'zone': 'Europe/Berlin',"
    " 'end': {'$date': {'$numberLong': '9223372036854775807'}},"
    " 'start': {'$date': {'$numberLong': '-9223372036854775808'}},"
    " 'oid': {'$oid': '5ab9cbfa31c2ab715d42129e'},"
    " 'ts': {'$timestamp': {'t': 1600000000, 'i': 7}}}";

TEST(DateExpressionTest, Parts) {
  check_expressions(
      {{
          {"{'$year': '$d'}", "2017"},
          {"{'$month': '$d'}", "1"},
          {"{'$dayOfMonth': '$d'}", "1"},
          {"{'$hour': '$d'}", "10"},
          {"{'$minute': '$d'}", "14"},
          {"{'$second': '$d'}", "35"},
          {"{'$millisecond': '$d'}", "11"},
          {"{'$dayOfWeek': '$d'}", "1"},
          {"{'$dayOfYear': '$leap'}", "60"},
          {"{'$week': '$d'}", "1"},
          {"{'$week': T(2016-01-01T00:00:00Z)}", "0"},
          {"{'$week': T(2016-12-31T00:00:00Z)}", "52"},
          {"{'$isoWeek': '$d'}", "52"},
          {"{'$isoWeekYear': '$d'}", "L(2016)"},
          {"{'$isoDayOfWeek': '$d'}", "7"},
          {"{'$year': ['$d']}", "2017"},
          {"{'$year': '$oid'}", "2018"},
          {"{'$hour': '$ts'}", "12"},
          {"{'$year': {'date': '$d', 'timezone': 'America/New_York'}}", "2017"},
          {"{'$hour': {'date': '$d', 'timezone': 'America/New_York'}}", "5"},
          {"{'$hour': {'date': '$leap', 'timezone': '+0030'}}", "0"},
          {"{'$dayOfMonth': {'date': '$leap', 'timezone': '+00:30'}}", "1"},
          {"{'$hour': {'date': '$d', 'timezone': '-03'}}", "7"},
          {"{'$hour': {'date': T(2020-07-01T10:00:00Z), 'timezone': '$zone'}}", "12"},
          {"{'$hour': {'date': T(2020-01-01T10:00:00Z), 'timezone': '$zone'}}", "11"},
          {"{'$hour': {'date': T(2050-07-01T10:00:00Z), 'timezone': '$zone'}}", "12"},
          // The rule after the last recorded change is used, also on the southern hemisphere.
          {"{'$hour': {'date': T(2100-01-15T00:00:00Z), 'timezone': 'Australia/Sydney'}}", "11"},
          {"{'$hour': {'date': T(2100-07-15T00:00:00Z), 'timezone': 'Australia/Sydney'}}", "10"},
          {"{'$minute': {'date': T(1880-01-01T00:00:00Z), 'timezone': '$zone'}}", "53"},
          {"{'$hour': {'date': '$d', 'timezone': '$n'}}", "null"},
          {"{'$year': '$n'}", "null"},
          {"{'$year': '$none'}", "null"},
          {"{'$year': '$old'}", "-1"},
          {"{'$year': '$end'}", "292278994"},
          {"{'$year': '$i'}", "!16006 can't convert from BSON type int to Date"},
          {"{'$year': {'$add': ['$d', 1000]}}", "2017"},
          {"{'$year': {'date': '$d', 'timezone': 'Nowhere/Else'}}",
           "!40485 unrecognized time zone identifier: \"Nowhere/Else\""},
          {"{'$year': {'date': '$d', 'timezone': '../../etc/passwd'}}", "!40485"},
          {"{'$year': {'date': '$d', 'timezone': 5}}", "!40517"},
          {"{'$year': {'dates': '$d'}}", "!40535 unrecognized option to $year: \"dates\""},
          {"{'$year': {}}", "!40539 missing 'date' argument to $year, provided: $year: {}"},
          {"{'$year': ['$d', '$d']}", "!40536"},
          {"{'$year': [{'date': '$d'}]}", "!16006"},
          {"{'$dateToParts': {'date': '$d'}}",
           "{'year': 2017, 'month': 1, 'day': 1, 'hour': 10, 'minute': 14, 'second': 35,"
           " 'millisecond': 11}"},
          {"{'$dateToParts': {'date': '$d', 'iso8601': true, 'timezone': '+14:00'}}",
           "{'isoWeekYear': 2017, 'isoWeek': 1, 'isoDayOfWeek': 1, 'hour': 0, 'minute': 14,"
           " 'second': 35, 'millisecond': 11}"},
          {"{'$dateToParts': {'date': '$n'}}", "null"},
          {"{'$dateToParts': {'date': '$d', 'iso8601': '$n'}}", "null"},
          {"{'$dateToParts': {'date': '$d', 'iso8601': 1}}", "!40521"},
          {"{'$dateToParts': {'date': 5}}", "!16006"},
          {"{'$dateToParts': {'timezone': 'UTC'}}", "!40522"},
          {"{'$dateToParts': {'x': 'UTC'}}", "!40520"},
          {"{'$dateToParts': 1}", "!40524"},
      }},
      kDates);
}

TEST(DateExpressionTest, FromParts) {
  check_expressions(
      {{
          {"{'$dateFromParts': {'year': 2017, 'month': 2, 'day': 8, 'hour': 12}}",
           "T(2017-02-08T12:00:00Z)"},
          {"{'$dateFromParts': {'isoWeekYear': 2017, 'isoWeek': 6, 'isoDayOfWeek': 3, 'hour': 12}}",
           "T(2017-02-08T12:00:00Z)"},
          {"{'$dateFromParts': {'year': 2016, 'month': 12, 'day': 31, 'hour': 23, 'minute': 46,"
           " 'second': 12, 'timezone': 'America/New_York'}}",
           "T(2017-01-01T04:46:12Z)"},
          {"{'$dateFromParts': {'year': 2017, 'month': 14, 'day': 1, 'hour': 12}}",
           "T(2018-02-01T12:00:00Z)"},
          {"{'$dateFromParts': {'year': 2017, 'month': 0, 'day': 1, 'hour': 12}}",
           "T(2016-12-01T12:00:00Z)"},
          {"{'$dateFromParts': {'year': 2017, 'day': -1, 'minute': 61, 'second': -1,"
           " 'millisecond': 1500}}",
           "T(2016-12-30T01:01:00.500Z)"},
          // This local time exists twice. The earlier one counts.
          {"{'$dateFromParts': {'year': 2020, 'month': 10, 'day': 25, 'hour': 2, 'minute': 30,"
           " 'timezone': '$zone'}}",
           "T(2020-10-25T00:30:00Z)"},
          {"{'$dateFromParts': {'year': 2020, 'month': 3, 'day': 29, 'hour': 2, 'minute': 30,"
           " 'timezone': '$zone'}}",
           "T(2020-03-29T01:30:00Z)"},
          {"{'$dateFromParts': {'year': 2017.0}}", "T(2017-01-01T00:00:00Z)"},
          {"{'$dateFromParts': {'year': '$n'}}", "null"},
          {"{'$dateFromParts': {'year': 2017, 'hour': '$none'}}", "null"},
          {"{'$dateFromParts': {'year': 2017, 'timezone': '$none'}}", "null"},
          {"{'$dateFromParts': {'year': 0}}", "!40523"},
          {"{'$dateFromParts': {'isoWeekYear': 10000}}", "!31095"},
          {"{'$dateFromParts': {'year': '$s'}}",
           "!40515 'year' must evaluate to an integer, found string with value \"text\""},
          {"{'$dateFromParts': {'year': 2017, 'month': 1.5}}", "!40515"},
          {"{'$dateFromParts': {'year': 2017, 'hour': 40000}}",
           "!31034 'hour' must evaluate to a value in the range [-32768, 32767]"},
          {"{'$dateFromParts': {'year': 2017, 'second': L(9223372036854775807)}}", "!159"},
          {"{'$dateFromParts': {'year': 1970, 'millisecond': L(9223372036854775)}}",
           "{'$date': {'$numberLong': '9223372036854775'}}"},
          {"{'$dateFromParts': {'year': 1970, 'millisecond': L(9223372036854776)}}", "!159"},
          {"{'$dateFromParts': {'month': 1}}", "!40516"},
          {"{'$dateFromParts': {'year': 1, 'isoWeek': 1}}", "!40489"},
          {"{'$dateFromParts': {'isoWeekYear': 1, 'day': 1}}", "!40525"},
          {"{'$dateFromParts': {'x': 1}}", "!40518"},
          {"{'$dateFromParts': 1}", "!40519"},
      }},
      kDates);
}

TEST(DateExpressionTest, ToString) {
  check_expressions(
      {{
          {"{'$dateToString': {'date': '$d'}}", "'2017-01-01T10:14:35.011Z'"},
          {"{'$dateToString': {'date': '$d', 'timezone': 'America/New_York'}}",
           "'2017-01-01T05:14:35.011'"},
          {"{'$dateToString': {'date': '$d', 'timezone': 'GMT'}}", "'2017-01-01T10:14:35.011Z'"},
          {"{'$dateToString': {'date': '$d', 'format': '%Y-%m-%d %H:%M:%S:%L'}}",
           "'2017-01-01 10:14:35:011'"},
          {"{'$dateToString': {'date': '$d', 'format': '%b %B %j %w %u %U %V %G %%'}}",
           "'Jan January 001 1 7 01 52 2016 %'"},
          {"{'$dateToString': {'date': '$d', 'format': '%z %Z', 'timezone': '-05:30'}}",
           "'-0530 -330'"},
          {"{'$dateToString': {'date': '$d', 'format': '%z %Z', 'timezone': '+04:30'}}",
           "'+0430 270'"},
          {"{'$dateToString': {'date': '$d', 'format': '%z %Z'}}", "'+0000 0'"},
          {"{'$dateToString': {'date': '$oid', 'format': '%Y'}}", "'2018'"},
          {"{'$dateToString': {'date': '$n'}}", "null"},
          {"{'$dateToString': {'date': '$n', 'onNull': 'none'}}", "'none'"},
          {"{'$dateToString': {'date': '$none', 'onNull': '$none'}}", "missing"},
          {"{'$dateToString': {'date': '$d', 'format': '$n'}}", "null"},
          {"{'$dateToString': {'date': '$d', 'timezone': '$n', 'onNull': 1}}", "null"},
          {"{'$dateToString': {'date': '$d', 'format': '%'}}", "!18535"},
          {"{'$dateToString': {'date': '$n', 'format': '%q'}}",
           "!18536 Invalid format character '%q' in format string"},
          {"{'$dateToString': {'date': '$d', 'format': 5}}",
           "!18533 $dateToString requires that 'format' be a string, found: int with value 5"},
          {"{'$dateToString': {'date': '$far', 'format': '%Y'}}", "!18537"},
          {"{'$dateToString': {'date': '$s'}}", "!16006"},
          {"{'$dateToString': {'format': '%Y'}}", "!18628"},
          {"{'$dateToString': {'x': '%Y'}}", "!18534"},
          {"{'$dateToString': '$d'}", "!18629"},
      }},
      kDates);
}

// Dates outside of the years 0 to 9999 have no text.
TEST(DateExpressionTest, FarDates_AreNotTakenForText) {
  check_expressions({{
                        {"{'$toLower': '$d'}", "'2017-01-01t10:14:35.011z'"},
                        {"{'$toLower': '$far'}", "!18537"},
                        {"{'$toUpper': '$end'}", "!18537"},
                        {"{'$substrCP': ['$old', 0, 4]}", "!18537"},
                        {"{'$substrBytes': ['$start', 0, 4]}", "!18537"},
                        {"{'$strcasecmp': ['$far', 'a']}", "!18537"},
                    }},
                    kDates);
}

// Forms and abbreviations that servers accept in addition to ISO 8601.
TEST(DateExpressionTest, FromString_LooseForms_AreUnderstood) {
  check_expressions(
      {{
          {"{'$dateFromString': {'dateString': '2017-07'}}", "T(2017-07-01T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': '7/4/17'}}", "T(2017-07-04T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': '07/04/1971 8:30'}}", "T(1971-07-04T08:30:00Z)"},
          {"{'$dateFromString': {'dateString': '04-07-2017'}}", "T(2017-07-04T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': '2017-Jul-04 noon'}}", "T(2017-07-04T12:00:00Z)"},
          {"{'$dateFromString': {'dateString': 'July 4th, 2017 11am'}}", "T(2017-07-04T11:00:00Z)"},
          {"{'$dateFromString': {'dateString': 'July 4th, 2017 12pm'}}", "T(2017-07-04T12:00:00Z)"},
          {"{'$dateFromString': {'dateString': '2017-07-04T11:56.02.8'}}",
           "T(2017-07-04T11:56:02.800Z)"},
          {"{'$dateFromString': {'dateString': 'July 4th, 2017 12:39:30 BST'}}",
           "T(2017-07-04T11:39:30Z)"},
          {"{'$dateFromString': {'dateString': '2017-07-14T12:02:44.771 EST'}}",
           "T(2017-07-14T17:02:44.771Z)"},
          {"{'$dateFromString': {'dateString': '2017-07-14T12:02:44.771 a'}}",
           "T(2017-07-14T11:02:44.771Z)"},
          {"{'$dateFromString': {'dateString': '2017-07-14T12:02:44.771 L'}}",
           "T(2017-07-14T01:02:44.771Z)"},
          {"{'$dateFromString': {'dateString': '2017-07-14T12:02:44.771 P'}}",
           "T(2017-07-14T15:02:44.771Z)"},
          {"{'$dateFromString': {'dateString': '2017-07-14T12:02 J'}}", "!241"},
          {"{'$dateFromString': {'dateString': '2017-07-14T12:02 EST', 'timezone': '$zone'}}",
           "!241"},
          {"{'$dateFromString': {'dateString': '2017-07-14 Europe/Paris'}}", "!241"},
          {"{'$dateFromString': {'dateString': '2017-07-14 13pm'}}", "!241"},
          {"{'$dateFromString': {'dateString': '13/13/2017'}}", "!241"},
      }},
      kDates);
}

TEST(DateExpressionTest, FromString_Formats_TakeWhatServersTake) {
  check_expressions(
      {{
          // Digits after a decimal point, not a number of milliseconds.
          {"{'$dateFromString': {'dateString': '2017-07-04 02.81', 'format': '%Y-%m-%d %S.%L'}}",
           "T(2017-07-04T00:00:02.810Z)"},
          {"{'$dateFromString': {'dateString': '2017-07-04 02.8', 'format': '%Y-%m-%d %S.%L'}}",
           "T(2017-07-04T00:00:02.800Z)"},
          {"{'$dateFromString': {'dateString': '2017-07-14 PDT', 'format': '%Y-%m-%d%z'}}",
           "T(2017-07-14T07:00:00Z)"},
          {"{'$dateFromString': {'dateString': '2017', 'format': '%G'}}",
           "T(2017-01-02T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': '2017, Day 5', 'format': '%G, Day %u'}}",
           "T(2017-01-06T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': '1.1.1', 'format': '%V.%u.%G'}}",
           "T(0001-01-01T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': 'Week 52', 'format': 'Week %V'}}", "!241"},
          {"{'$dateFromString': {'dateString': 'Week 1, 2018', 'format': 'Week %V, %Y'}}", "!241"},
          {"{'$dateFromString': {'dateString': '12/31/2018', 'format': '%m/%d/%G'}}", "!241"},
          {"{'$dateFromString': {'dateString': '2018-01', 'format': '%Y-%m-%d'}}", "!241"},
      }},
      kDates);
}

TEST(DateExpressionTest, FromString) {
  check_expressions(
      {{
          {"{'$dateFromString': {'dateString': '2017-02-08T12:10:40.787'}}",
           "T(2017-02-08T12:10:40.787Z)"},
          {"{'$dateFromString': {'dateString': '2017-02-08T12:10:40.787', 'timezone':"
           " 'America/New_York'}}",
           "T(2017-02-08T17:10:40.787Z)"},
          {"{'$dateFromString': {'dateString': '2017-02-08'}}", "T(2017-02-08T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': '2017-02-08T12:10:40Z'}}",
           "T(2017-02-08T12:10:40Z)"},
          {"{'$dateFromString': {'dateString': '2017-02-08T12:10:40+0130'}}",
           "T(2017-02-08T10:40:40Z)"},
          {"{'$dateFromString': {'dateString': 'July 4th, 2017 11:56:02 am'}}",
           "T(2017-07-04T11:56:02Z)"},
          {"{'$dateFromString': {'dateString': '4 Jul 2017 11:56 PM GMT+2'}}",
           "T(2017-07-04T21:56:00Z)"},
          {"{'$dateFromString': {'dateString': '20170704T235959'}}", "T(2017-07-04T23:59:59Z)"},
          {"{'$dateFromString': {'dateString': '2017-W27-2'}}", "T(2017-07-04T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': '2017-185'}}", "T(2017-07-04T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': '06-15-2018', 'format': '%m-%d-%Y'}}",
           "T(2018-06-15T00:00:00Z)"},
          {"{'$dateFromString': {'dateString': '2018-W24-5 07:08:09.120', 'format':"
           " '%G-W%V-%u %H:%M:%S.%L'}}",
           "T(2018-06-15T07:08:09.120Z)"},
          {"{'$dateFromString': {'dateString': '15 June 2018 +0200', 'format': '%d %B %Y %z'}}",
           "T(2018-06-14T22:00:00Z)"},
          {"{'$dateFromString': {'dateString': '15/06/2018 10%', 'format': '%d/%m/%Y %H%%'}}",
           "T(2018-06-15T10:00:00Z)"},
          {"{'$dateFromString': {'dateString': '$n'}}", "null"},
          {"{'$dateFromString': {'dateString': '$none', 'onNull': 'none'}}", "'none'"},
          {"{'$dateFromString': {'dateString': '2017', 'format': '$n', 'onNull': 1}}", "null"},
          {"{'$dateFromString': {'dateString': 'never', 'onError': 'bad'}}", "'bad'"},
          {"{'$dateFromString': {'dateString': 5, 'onError': 'bad'}}", "'bad'"},
          {"{'$dateFromString': {'dateString': 5}}",
           "!241 $dateFromString requires that 'dateString' be a string, found: int with value 5"},
          {"{'$dateFromString': {'dateString': 'never'}}",
           "!241 Error parsing date string 'never'"},
          {"{'$dateFromString': {'dateString': '€'}}",
           "!241 Error parsing date string '€'; 0: Unexpected character '€'"},
          {"{'$toDate': 'ö'}", "!241 Error parsing date string 'ö'; 0: Unexpected character 'ö'"},
          {"{'$dateFromString': {'dateString': '2020-01-01', 'format': '%é'}}",
           "!18536 Invalid format character '%é' in format string"},
          {"{'$dateToString': {'date': {'$toDate': {'$toLong': 0}}, 'format': '%é'}}",
           "!18536 Invalid format character '%é' in format string"},
          {"{'$dateFromString': {'dateString': '2017-13-08'}}", "!241"},
          {"{'$dateFromString': {'dateString': '2017-02-30'}}", "!241"},
          {"{'$dateFromString': {'dateString': 'July 4th'}}", "!241"},
          {"{'$dateFromString': {'dateString': '2017-02-08 25:00'}}", "!241"},
          {"{'$dateFromString': {'dateString': '06-15-2018', 'format': '%d-%m-%Y'}}", "!241"},
          {"{'$dateFromString': {'dateString': '06-15', 'format': '%m-%d'}}", "!241"},
          {"{'$dateFromString': {'dateString': '2017-02-08T12:10:40+01:00', 'timezone': "
           "'$zone'}}",
           "!241 you cannot pass in a date/time string with GMT offset together with a timezone"},
          {"{'$dateFromString': {'dateString': 'x', 'timezone': 'Nowhere', 'onError': 1}}",
           "!40485"},
          {"{'$dateFromString': {'dateString': 'x', 'format': 5, 'onError': 1}}", "!40684"},
          {"{'$dateFromString': {'dateString': 'x', 'format': '%w', 'onError': 1}}", "!18536"},
          {"{'$dateFromString': {'format': '%Y'}}", "!40542"},
          {"{'$dateFromString': {'x': '%Y'}}", "!40541"},
          {"{'$dateFromString': '$s'}", "!40540"},
      }},
      kDates);
}

TEST(DateExpressionTest, Addition) {
  check_expressions(
      {{
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'year', 'amount': 1}}",
           "T(2018-01-01T10:14:35.011Z)"},
          {"{'$dateAdd': {'startDate': '$leap', 'unit': 'year', 'amount': 1}}",
           "T(2021-02-28T23:59:59.999Z)"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'quarter', 'amount': -1}}",
           "T(2016-10-01T10:14:35.011Z)"},
          {"{'$dateAdd': {'startDate': T(2020-10-31T00:00:00Z), 'unit': 'month', 'amount': 1}}",
           "T(2020-11-30T00:00:00Z)"},
          {"{'$dateSubtract': {'startDate': T(2020-03-31T00:00:00Z), 'unit': 'month', 'amount': "
           "1}}",
           "T(2020-02-29T00:00:00Z)"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'week', 'amount': L(2)}}",
           "T(2017-01-15T10:14:35.011Z)"},
          {"{'$dateSubtract': {'startDate': '$d', 'unit': 'day', 'amount': 1.0}}",
           "T(2016-12-31T10:14:35.011Z)"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'hour', 'amount': 24}}",
           "T(2017-01-02T10:14:35.011Z)"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'minute', 'amount': -15}}",
           "T(2017-01-01T09:59:35.011Z)"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'second', 'amount': 25}}",
           "T(2017-01-01T10:15:00.011Z)"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'millisecond', 'amount': 989}}",
           "T(2017-01-01T10:14:36Z)"},
          // Summer time began on 2020-03-29: that day has 23 hours, but an hour is an hour.
          {"{'$dateAdd': {'startDate': T(2020-03-28T10:00:00Z), 'unit': 'day', 'amount': 1,"
           " 'timezone': '$zone'}}",
           "T(2020-03-29T09:00:00Z)"},
          {"{'$dateAdd': {'startDate': T(2020-03-28T10:00:00Z), 'unit': 'hour', 'amount': 24,"
           " 'timezone': '$zone'}}",
           "T(2020-03-29T10:00:00Z)"},
          // 2:30 does not exist on that day.
          {"{'$dateAdd': {'startDate': T(2020-03-28T01:30:00Z), 'unit': 'day', 'amount': 1,"
           " 'timezone': '$zone'}}",
           "T(2020-03-29T01:30:00Z)"},
          {"{'$dateAdd': {'startDate': '$ts', 'unit': 'day', 'amount': 1}}",
           "T(2020-09-14T12:26:40Z)"},
          {"{'$dateAdd': {'startDate': '$n', 'unit': 'bad', 'amount': 1}}", "null"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': '$n', 'amount': 1}}", "null"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'day', 'amount': '$none'}}", "null"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'day', 'amount': 1, 'timezone': '$n'}}",
           "null"},
          {"{'$dateAdd': {'startDate': '$i', 'unit': 'day', 'amount': 1}}",
           "!5166403 $dateAdd requires startDate to be convertible to a date"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 5, 'amount': 1}}", "!5166404"},
          {"{'$dateAdd': {'startDate': 1, 'unit': 5, 'amount': 'a'}}", "!5166403"},
          {"{'$dateAdd': {'startDate': 1, 'unit': 5, 'amount': 1, 'timezone': 1}}", "!40517"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'days', 'amount': 1}}",
           "!9 $dateAdd parameter 'unit' value parsing failed :: caused by :: unknown time unit "
           "value: days"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'day', 'amount': 1.5}}", "!5166405"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'day', 'amount': L(9223372036854775807)}}",
           "!5976500 invalid dateAdd 'amount' parameter value: 9223372036854775807 day"},
          {"{'$dateAdd': {'startDate': '$end', 'unit': 'day', 'amount': 1}}", "!5166406"},
          {"{'$dateAdd': {'startDate': '$end', 'unit': 'millisecond', 'amount': 1}}", "!159"},
          {"{'$dateSubtract': {'startDate': '$d', 'unit': 'day', 'amount': "
           "L(-9223372036854775808)}}",
           "!6045000"},
          {"{'$dateAdd': {'startDate': '$d', 'unit': 'day'}}", "!5166402"},
          {"{'$dateAdd': {'x': '$d'}}",
           "!5166401 Unrecognized argument to $dateAdd: x. Expected arguments are startDate,"},
          {"{'$dateAdd': '$d'}", "!5166400"},
      }},
      kDates);
}

TEST(DateExpressionTest, Difference) {
  check_expressions(
      {{
          {"{'$dateDiff': {'startDate': T(2020-12-31T23:59:59.999Z), 'endDate': "
           "T(2021-01-01T00:00:00Z), 'unit': 'year'}}",
           "L(1)"},
          {"{'$dateDiff': {'startDate': '$leap', 'endDate': '$d', 'unit': 'quarter'}}", "L(-12)"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$leap', 'unit': 'month'}}", "L(37)"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$leap', 'unit': 'day'}}", "L(1154)"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$leap', 'unit': 'hour'}}", "L(27709)"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$d', 'unit': 'second'}}", "L(0)"},
          {"{'$dateDiff': {'startDate': T(2020-01-01T00:00:59Z), 'endDate': "
           "T(2020-01-01T00:01:00Z), 'unit': 'minute'}}",
           "L(1)"},
          {"{'$dateDiff': {'startDate': '$old', 'endDate': '$d', 'unit': 'millisecond'}}",
           "L(63682020875011)"},
          // Saturday to Sunday, and Sunday to Monday.
          {"{'$dateDiff': {'startDate': T(2021-01-16T00:00:00Z), 'endDate': "
           "T(2021-01-17T00:00:00Z), 'unit': 'week'}}",
           "L(1)"},
          {"{'$dateDiff': {'startDate': T(2021-01-16T00:00:00Z), 'endDate': "
           "T(2021-01-17T00:00:00Z), 'unit': 'week', 'startOfWeek': 'MON'}}",
           "L(0)"},
          {"{'$dateDiff': {'startDate': T(2021-01-17T00:00:00Z), 'endDate': "
           "T(2021-01-18T00:00:00Z), 'unit': 'week', 'startOfWeek': 'Monday'}}",
           "L(1)"},
          {"{'$dateDiff': {'startDate': T(2020-03-28T10:00:00Z), 'endDate': "
           "T(2020-03-29T10:00:00Z), 'unit': 'hour', 'timezone': '$zone'}}",
           "L(24)"},
          {"{'$dateDiff': {'startDate': T(2020-03-28T22:30:00Z), 'endDate': "
           "T(2020-03-28T23:30:00Z), 'unit': 'day', 'timezone': '$zone'}}",
           "L(1)"},
          {"{'$dateDiff': {'startDate': '$start', 'endDate': '$end', 'unit': 'millisecond'}}",
           "!5166308 dateDiff overflowed"},
          {"{'$dateDiff': {'startDate': '$n', 'endDate': '$d', 'unit': 'bad'}}", "null"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$none', 'unit': 'bad'}}", "null"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$d', 'unit': 'day', 'startOfWeek': "
           "5}}",
           "L(0)"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$d', 'unit': 'week', 'startOfWeek': "
           "5}}",
           "!5439015"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$d', 'unit': 'week', 'startOfWeek': "
           "'x'}}",
           "!5439016"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$i', 'unit': 'day'}}",
           "!5166307 $dateDiff requires 'endDate' to be a date, but got int"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$d', 'unit': 'day', 'timezone': 'x'}}",
           "!40485 $dateDiff parameter 'timezone' value parsing failed :: caused by ::"},
          {"{'$dateDiff': {'startDate': '$d', 'endDate': '$d'}}", "!5166305"},
          {"{'$dateDiff': {'startDate': '$d', 'unit': 'day'}}", "!5166304"},
          {"{'$dateDiff': {'endDate': '$d', 'unit': 'day'}}", "!5166303"},
          {"{'$dateDiff': {'x': 1}}", "!5166302"},
          {"{'$dateDiff': 1}", "!5166301"},
      }},
      kDates);
}

TEST(DateExpressionTest, Truncation) {
  check_expressions(
      {{
          {"{'$dateTrunc': {'date': '$leap', 'unit': 'year'}}", "T(2020-01-01T00:00:00Z)"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'year', 'binSize': 10}}",
           "T(2010-01-01T00:00:00Z)"},
          {"{'$dateTrunc': {'date': T(1999-05-05T00:00:00Z), 'unit': 'year', 'binSize': 10}}",
           "T(1990-01-01T00:00:00Z)"},
          {"{'$dateTrunc': {'date': '$leap', 'unit': 'quarter'}}", "T(2020-01-01T00:00:00Z)"},
          {"{'$dateTrunc': {'date': T(2021-03-20T11:30:05Z), 'unit': 'month', 'binSize': 2}}",
           "T(2021-03-01T00:00:00Z)"},
          {"{'$dateTrunc': {'date': T(2021-03-20T11:30:05Z), 'unit': 'week', 'binSize': 2,"
           " 'timezone': 'America/Los_Angeles', 'startOfWeek': 'Monday'}}",
           "T(2021-03-15T07:00:00Z)"},
          {"{'$dateTrunc': {'date': '$leap', 'unit': 'week'}}", "T(2020-02-23T00:00:00Z)"},
          {"{'$dateTrunc': {'date': '$leap', 'unit': 'day', 'timezone': '$zone'}}",
           "T(2020-02-29T23:00:00Z)"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'hour', 'binSize': 4}}",
           "T(2017-01-01T08:00:00Z)"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'minute', 'binSize': 15}}",
           "T(2017-01-01T10:00:00Z)"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'second', 'binSize': L(30)}}",
           "T(2017-01-01T10:14:30Z)"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'millisecond', 'binSize': 10}}",
           "T(2017-01-01T10:14:35.010Z)"},
          {"{'$dateTrunc': {'date': '$n', 'unit': 'bad'}}", "null"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'day', 'binSize': '$n'}}", "null"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'week', 'startOfWeek': '$n'}}", "null"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'day', 'timezone': '$n'}}", "null"},
          {"{'$dateTrunc': {'date': '$i', 'unit': 'day'}}", "!5439012"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'day', 'binSize': 1.5}}", "!5439017"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'day', 'binSize': 0}}", "!5439018"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'day', 'binSize': L(100000000001)}}", "!5439006"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'hour', 'binSize': L(9223372036854775807)}}",
           "!5439002"},
          {"{'$dateTrunc': {'date': '$start', 'unit': 'hour'}}", "!5439000"},
          {"{'$dateTrunc': {'date': '$d', 'unit': 'bad'}}", "!9"},
          {"{'$dateTrunc': {'unit': 'day'}}", "!5439009"},
          {"{'$dateTrunc': {'date': '$d'}}", "!5439010"},
          {"{'$dateTrunc': {'x': '$d'}}", "!5439008 Unrecognized argument to $dateTrunc: x. Exp"},
          {"{'$dateTrunc': '$d'}", "!5439007"},
      }},
      kDates);
}

std::string evaluate_for(const bson::Document& expression, int64_t milliseconds) {
  bson::Builder builder;
  builder.append("d", bson::Date{milliseconds});
  const bson::Document document = std::move(builder).finish();
  return evaluate_to_text(*expression.find("x"), document);
}

TEST(DateExpressionTest, AgreesWithTheCLibrary) {
  const bson::Document expression = parse_json(
      "{'x': {'$dateToString': {'date': '$d', 'format': '%Y %m %d %H %M %S %j %V %G %U %u'}}}");
  std::mt19937_64 random(1582);
  for (int round = 0; round < 2000; ++round) {
    // Years 0001 to 9998.
    const int64_t seconds = static_cast<int64_t>(random() % 315'000'000'000) - 62'000'000'000;
    const time_t time = seconds;
    tm parts{};
    gmtime_r(&time, &parts);
    char text[128];
    char year[16];
    snprintf(year, sizeof year, "%04d", parts.tm_year + 1900);
    strftime(text, sizeof text, " %m %d %H %M %S %j %V ", &parts);
    char iso_year[16];
    strftime(iso_year, sizeof iso_year, "%G", &parts);
    snprintf(iso_year, sizeof iso_year, "%04d", std::stoi(std::string(iso_year)));
    char rest[32];
    strftime(rest, sizeof rest, " %U %u", &parts);
    EXPECT_EQ(evaluate_for(expression, seconds * 1000),
              "'" + std::string(year) + text + iso_year + rest + "'")
        << seconds;
  }
}

TEST(DateExpressionTest, PartsMakeTheDateAgain) {
  const bson::Document expression = parse_json(
      "{'x': {'$let': {'vars': {'p': {'$dateToParts': {'date': '$d'}}, 'q': {'$dateToParts':"
      " {'date': '$d', 'iso8601': true, 'timezone': 'Asia/Kathmandu'}}}, 'in': {'$and': ["
      " {'$eq': ['$d', {'$dateFromParts': {'year': '$$p.year', 'month': '$$p.month', 'day':"
      " '$$p.day', 'hour': '$$p.hour', 'minute': '$$p.minute', 'second': '$$p.second',"
      " 'millisecond': '$$p.millisecond'}}]},"
      " {'$eq': ['$d', {'$dateFromParts': {'isoWeekYear': '$$q.isoWeekYear', 'isoWeek':"
      " '$$q.isoWeek', 'isoDayOfWeek': '$$q.isoDayOfWeek', 'hour': '$$q.hour', 'minute':"
      " '$$q.minute', 'second': '$$q.second', 'millisecond': '$$q.millisecond', 'timezone':"
      " 'Asia/Kathmandu'}}]},"
      " {'$eq': ['$d', {'$dateFromString': {'dateString': {'$dateToString': {'date': '$d'}}}}]},"
      " {'$lte': [{'$dateTrunc': {'date': '$d', 'unit': 'week', 'binSize': 3}}, '$d']},"
      " {'$eq': ['$d', {'$dateSubtract': {'unit': 'day', 'amount': 1000, 'startDate':"
      " {'$dateAdd': {'startDate': '$d', 'unit': 'day', 'amount': 1000}}}}]}]}}}}");
  std::mt19937_64 random(1986);
  for (int round = 0; round < 500; ++round) {
    // After 1986, when the clock in Kathmandu was last changed.
    const auto milliseconds =
        static_cast<int64_t>(random() % 200'000'000'000'000) + 600'000'000'000;
    EXPECT_EQ(evaluate_for(expression, milliseconds), "true") << milliseconds;
  }
}

}  // namespace
}  // namespace gridmount::query

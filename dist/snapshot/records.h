#pragma once
// Stores a vector of structs in a snapshot as one array for each field, named "<name>/<field>". The fields are listed
// once, for writing and for reading:
//
//   inline constexpr std::tuple kPointFields{Field("step", &Point::step), Field("loss", &Point::loss)};
//   write_records(to, "points", points, kPointFields);
//   points = read_records(from, "points", kPointFields);

#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dist/snapshot/snapshot.h"
#include "dist/snapshot/snapshot_file.h"

namespace tg {

// A member of Struct and its name in the snapshot. T is an integer type, bool, float or double.
template <class Struct, class T>
struct Field {
  constexpr Field(const char* name_, T Struct::*member_) : name(name_), member(member_) {}
  const char* name;
  T Struct::*member;
};

template <class Struct, class T>
void write_field(SnapshotWriter& to, const std::vector<Struct>& records, const Field<Struct, T>& field) {
  using Stored = std::conditional_t<std::is_floating_point_v<T>, T, int64_t>;
  std::vector<Stored> column;
  column.reserve(records.size());
  for (const Struct& record : records) column.push_back(static_cast<Stored>(record.*field.member));
  if constexpr (std::is_floating_point_v<T>)
    to.write(field.name, BasicSpan<const T>(column.data(), std::ssize(column)));
  else
    to.write_numbers(field.name, column);
}

// The first field determines the number of records. Throws Error for an integer that T cannot hold.
template <class Struct, class T>
void read_field(const SnapshotReader& from, std::vector<Struct>& records, const Field<Struct, T>& field, bool first) {
  const auto column = [&] {
    if constexpr (std::is_same_v<T, float>)
      return from.read_floats(field.name);
    else if constexpr (std::is_same_v<T, double>)
      return from.read_reals(field.name);
    else
      return from.read_numbers(field.name);
  }();
  if (first) records.resize(column.size());
  from.require_here(column.size() == records.size(), "{} has {} elements, its neighbours {}", field.name, column.size(),
                    records.size());
  for (size_t i = 0; i < column.size(); ++i) {
    if constexpr (!std::is_floating_point_v<T>)
      from.require_here(
          column[i] >= int64_t{std::numeric_limits<T>::min()} && column[i] <= int64_t{std::numeric_limits<T>::max()},
          "{} has {} in place {}, which it cannot be", field.name, column[i], i);
    records[i].*field.member = static_cast<T>(column[i]);
  }
}

template <class Struct, class... T>
void write_records(const SnapshotWriter& to, const std::string& name, const std::vector<Struct>& records,
                   const std::tuple<Field<Struct, T>...>& fields) {
  SnapshotWriter part = to.part(name);
  std::apply([&](const auto&... field) { (write_field(part, records, field), ...); }, fields);
}

template <class Struct, class... T>
std::vector<Struct> read_records(const SnapshotReader& from, const std::string& name,
                                 const std::tuple<Field<Struct, T>...>& fields) {
  const SnapshotReader part = from.part(name);
  std::vector<Struct> records;
  bool first = true;
  std::apply([&](const auto&... field) { (read_field(part, records, field, std::exchange(first, false)), ...); },
             fields);
  return records;
}

// One struct, stored as a vector of one.
template <class Struct, class... T>
void write_record(const SnapshotWriter& to, const std::string& name, const Struct& record,
                  const std::tuple<Field<Struct, T>...>& fields) {
  write_records(to, name, std::vector<Struct>{record}, fields);
}

template <class Struct, class... T>
Struct read_record(const SnapshotReader& from, const std::string& name, const std::tuple<Field<Struct, T>...>& fields) {
  const std::vector<Struct> records = read_records(from, name, fields);
  from.require_here(records.size() == 1, "{} has {} records; one is expected", name, records.size());
  return records.front();
}

}  // namespace tg

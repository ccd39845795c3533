#pragma once
// Whose snapshot it is, as far as an engine knows.

#include "dist/engine.h"
#include "dist/snapshot/snapshot.h"
#include "dist/snapshot/snapshot_file.h"

namespace tg {

// Writes engine, layout, workers, shards and seed into the metadata.
void mark(Snapshot& snapshot, const Job& job, const char* engine, int shards);

// What is read of job.resume, from its root. Throws Error, naming the first of these that differs, unless it is such an
// engine's snapshot of this job.
SnapshotReader reader_of(const Job& job, const char* engine, int shards);

}  // namespace tg

#pragma once
// Marks a snapshot with what an engine knows of its run, so that no other run goes on from it.

#include "dist/engine.h"
#include "dist/snapshot/snapshot.h"
#include "dist/snapshot/snapshot_file.h"

namespace tg {

// Writes engine, layout, workers, shards and seed into the snapshot's metadata.
void mark(Snapshot& snapshot, const Job& job, const char* engine, int shards);

// A reader at the root of job.resume. Throws Error, naming the first mark that differs, if job.resume was not written
// by this engine for this job.
SnapshotReader reader_of(const Job& job, const char* engine, int shards);

}  // namespace tg

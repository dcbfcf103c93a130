#include "bench/growth_kinds.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ncclog::testing {

void EntityLog::header(int rank, std::string_view place, std::string_view level) {
  const auto out = std::back_inserter(text_);
  if (!place.empty()) fmt::format_to(out, "[2026-11-20 20:52:{:02}] ", rank % 60);
  fmt::format_to(out, "gpu-{:05}:{}:{} [{}] ", rank / 8, 40001 + rank, 40001 + rank, rank % 8);
  if (!place.empty()) fmt::format_to(out, "{} ", place);
  fmt::format_to(out, "NCCL {} ", level);
}

void EntityLog::flush() {
  if (text_.size() == 0) return;
  std::ofstream out(file_, std::ios::binary);
  out.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  if (!out.flush()) throw std::runtime_error("cannot be written: " + file_.string());
  text_.clear();
}

namespace {

/// A communicator of some ranks, of which the first is `first` in the job.
struct Comm {
  int number = 0;
  int nranks = 0;
  int first = 0;

  uint64_t pointer(int rank) const {
    return 0x55d0'a400'0000 + uint64_t(first + rank) * 0x1'0000'0000 + uint64_t(number) * 4096;
  }
};

void write_state(EntityLog& log, const Comm& comm, int rank, std::string_view state) {
  const int speaker = comm.first + rank;
  log.info(speaker,
           "ncclCommInitRankConfig comm {:#x} rank {} nranks {} cudaDev {} nvmlDev {} busId {:x} "
           "commId {:#x} - Init {}",
           comm.pointer(rank), rank, comm.nranks, speaker % 8, speaker % 8,
           0x1b000 + speaker % 8 * 0x10000, 0x9000000 + comm.number, state);
}

void write_init(EntityLog& log, const Comm& comm) {
  for (const std::string_view state : {"START", "COMPLETE"}) {
    for (int rank = 0; rank < comm.nranks; ++rank) write_state(log, comm, rank, state);
  }
}

/// One communicator of all.
void write_job(EntityLog& log, int ranks) { write_init(log, {.nranks = ranks}); }

void write_call(EntityLog& log, const Comm& comm, int rank, std::string_view op, int number,
                int count) {
  log.info(
      comm.first + rank,
      "{}: opCount {:x} sendbuff 0x7f1000000000 recvbuff 0x7f1020000000 count {} datatype 9 op "
      "0 root 0 comm {:#x} [nranks={}] stream 0x55d0a5000000",
      op, number, count, comm.pointer(rank), comm.nranks);
}

void write_traceback(EntityLog& log, int rank, std::string_view exception) {
  log.line("[rank{}]: Traceback (most recent call last):", rank);
  log.line("[rank{}]:   File \"/workspace/train.py\", line 35, in <module>", rank);
  if (!exception.empty()) log.line("[rank{}]: {}", rank, exception);
}

void write_tracebacks(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    write_traceback(
        log, i,
        fmt::format("RuntimeError: DataLoader worker (pid {}) exited unexpectedly", 200000 + i));
  }
}

/// "[rank3]:[E1120 20:52:37.924076329 ProcessGroupNCCL.cpp:689]".
std::string watchdog_header(int rank, int line) {
  return fmt::format("[rank{}]:[E1120 20:52:{:02}.{:09} ProcessGroupNCCL.cpp:{}]", rank, rank % 60,
                     rank, line);
}

void write_timeout(EntityLog& log, int rank, int group, int group_rank, int seq) {
  log.line(
      "{} [Rank {}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={}, "
      "OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for {} "
      "milliseconds before timing out.",
      watchdog_header(rank, 689), group_rank, seq, 600000 + rank % 100);
  log.line(
      "{} [PG ID {} PG GUID {}({}) Rank {}]  failure detected by watchdog at work sequence id: {} "
      "PG status: last enqueued work: {}, last completed work: {}",
      watchdog_header(rank, 2303), group, group,
      group == 0 ? "default_pg" : fmt::format("mesh_{}", group), group_rank, seq, seq, seq - 1);
}

void write_timeouts(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) write_timeout(log, i, 0, i, 100);
}

void write_backend_errors(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    write_traceback(log, i,
                    "torch.distributed.DistBackendError: NCCL error in: "
                    "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, unhandled system error "
                    "(run with NCCL_DEBUG=INFO for details), NCCL version 2.28.9");
    log.line(
        "[rank{}]: ncclSystemError: System call (e.g. socket, malloc) or external library call "
        "failed or device error.",
        i);
    log.line("[rank{}]: Last error:", i);
    log.line(
        "[rank{}]: socketPollConnect: connect to 10.0.{}.{}<{}> returned Connection refused, "
        "exceeded error retry count after 35 attempts",
        i, i / 250 % 250, i % 250 + 1, 30000 + i % 20000);
  }
}

void write_ib_warns(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    log.warn(i, "transport/net_ib/p2p.cc:312",
             "NET/IB: Got completion from peer 10.0.{}.{}<{}> with status=IBV_WC_RETRY_EXC_ERR(12) "
             "opcode=IBV_WC_SEND(0) reqSize={} vendor_err=129 req_type=Send hca mlx5_{}",
             i / 250 % 250, i % 250 + 1, 30000 + i % 20000, i, i % 8);
    log.info(i, "transport/net.cc:1362 -> 6");
    log.info(i, "proxy.cc:965 -> 6 [Progress Thread]");
  }
}

void write_closed_warns(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    log.warn(i, "misc/socket.cc:72",
             "socketProgress: Connection closed by remote peer 10.0.{}.{}<{}>", i / 250 % 250,
             i % 250 + 1, 30000 + i % 20000);
    for (const std::string_view place :
         {"misc/socket.cc:845", "transport/net_socket.cc:557", "transport/net.cc:1508"})
      log.info(i, "{} -> 6", place);
  }
}

void write_shm_warns(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    log.warn(
        i, "misc/shmutils.cc:87",
        "Error: failed to extend /dev/shm/nccl-{:06x} to 9637892 bytes, error: No space left on "
        "device (28)",
        i);
    log.info(i, "transport/shm.cc:549 -> 2");
  }
}

void write_proxy_warns(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    log.warn(i, "proxy.cc:1734",
             "[Proxy Service {}] Failed to execute operation Init from rank {}, retcode 6", i % 8,
             i);
  }
}

void write_unknown_warns(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i)
    log.warn(i, "misc/foo.cc:17", "the frobnicator {} of lane {} went away", i, i % 8);
}

/// Of several kinds, so many in all.
void write_mixed_warns(EntityLog& log, int n) {
  constexpr void (*kKinds[])(EntityLog&, int) = {write_ib_warns,  write_closed_warns,
                                                 write_shm_warns, write_proxy_warns,
                                                 write_timeouts,  write_unknown_warns};
  write_job(log, n);
  for (const auto write : kKinds) write(log, n / int(std::size(kKinds)));
}

/// Communicators of eight processes, with so many calls each; the fourth rank makes `fewer`.
void write_comms(EntityLog& log, int n, int calls, int fewer) {
  for (int c = 0; c < n; ++c) write_init(log, {.number = c, .nranks = 8});
  for (int c = 0; c < n; ++c) {
    for (int rank = 0; rank < 8; ++rank) {
      const Comm comm{.number = c, .nranks = 8};
      for (int i = 0; i < calls - (rank == 3 ? fewer : 0); ++i)
        write_call(log, comm, rank, "AllReduce", i, 1048576);
    }
  }
}

/// The same pointers again and again.
void write_comm_lives(EntityLog& log, int n) {
  for (int c = 0; c < n; ++c) {
    for (const std::string_view state : {"START", "COMPLETE"}) {
      for (int rank = 0; rank < 2; ++rank) {
        log.info(
            rank,
            "ncclCommInitRankConfig comm 0x55d0a400{}000 rank {} nranks 2 cudaDev {} nvmlDev {} "
            "busId {:x} commId {:#x} - Init {}",
            rank, rank, rank, rank, 0x1b000 + rank * 0x10000, 0x9000000 + c, state);
      }
    }
    for (int rank = 0; rank < 2; ++rank) {
      log.info(rank,
               "comm 0x55d0a400{}000 rank {} nranks 2 cudaDev {} busId {:x} - Destroy COMPLETE",
               rank, rank, rank, 0x1b000 + rank * 0x10000);
    }
  }
}

/// Of the last call of all ranks, that of rank 5 is missing, or every second one is another.
void write_wide_calls(EntityLog& log, int n, bool differ) {
  const Comm comm{.nranks = n};
  write_job(log, n);
  for (int call = 0; call < 3; ++call) {
    for (int rank = 0; rank < n; ++rank) {
      if (call == 2 && !differ && rank == 5) continue;
      const bool is_other = call == 2 && differ;
      write_call(log, comm, rank, is_other && rank % 2 == 0 ? "Broadcast" : "AllReduce", call,
                 1048576 + (is_other ? rank : 0));
    }
  }
  write_timeouts(log, n);
}

/// Of two ranks, which fail and are started again with another version of NCCL.
void write_attempts(EntityLog& log, int n) {
  for (int a = 0; a < n; ++a) {
    const Comm comm{.number = a, .nranks = 2, .first = 8 * a};
    for (int rank = 0; rank < 2; ++rank)
      log.info(8 * a + rank, "NCCL version 2.{}.3+cuda12.1", 18 + a % 2);
    write_init(log, comm);
    log.line("[rank0]: RuntimeError: attempt {} failed", a);
  }
}

void write_versions(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) log.info(i, "NCCL version 2.{}.3+cuda12.1", 18 + i % 2);
  write_job(log, n);
}

/// Hosts of which every second rank completes.
void write_half_hosts(EntityLog& log, int n) {
  const Comm comm{.nranks = 2 * n};
  for (int rank = 0; rank < 2 * n; ++rank) write_state(log, comm, rank, "START");
  for (int rank = 0; rank < 2 * n; rank += 2) write_state(log, comm, rank, "COMPLETE");
}

/// Communicators of two, of which one rank begins.
void write_half_comms(EntityLog& log, int n) {
  for (int c = 0; c < n; ++c)
    write_state(log, {.number = c, .nranks = 2, .first = 8 * c}, 0, "START");
}

/// Communicators of two, whose first calls differ.
void write_differing_comms(EntityLog& log, int n) {
  for (int c = 0; c < n; ++c) {
    const Comm comm{.number = c, .nranks = 2, .first = 8 * c};
    write_init(log, comm);
    for (int rank = 0; rank < 2; ++rank) write_call(log, comm, rank, "AllReduce", 0, 1024 + rank);
  }
}

/// Communicators of two, of which another process begins as rank 1 once they are complete.
void write_latecomers(EntityLog& log, int n) {
  for (int c = 0; c < n; ++c) {
    write_init(log, {.number = c, .nranks = 2, .first = 8 * c});
    write_state(log, {.number = c, .nranks = 2, .first = 8 * c + 4}, 1, "START");
  }
}

/// Hosts of two GPUs, of which every 16th has one with half of the links of the others.
void write_slow_gpus(EntityLog& log, int n) {
  write_job(log, 8 * n);
  for (int host = 0; host < n; ++host) {
    const int speaker = 8 * host;
    log.info(speaker, "=== System : maxBw 370.8 totalBw 370.8 ===");
    log.info(speaker, "CPU/0-0 (1/1/4)");
    for (int gpu = 0; gpu < 2; ++gpu) {
      log.info(speaker, "+ PCI[48.0] - GPU/0-{:x} ({})", 0x1b000 + gpu * 0x10000, speaker + gpu);
      log.info(speaker, "              + NVL[{}] - NVS/0-0",
               gpu == 1 && host % 16 == 0 ? "185.4" : "370.8");
    }
    log.info(speaker, "==========================================");
  }
}

void write_settings(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    log.info(i, "NCCL_IB_HCA set by environment to mlx5_{}.", i);
    log.info(i, "NCCL_SOCKET_IFNAME set by environment to eth{}.", i % 7);
  }
  write_job(log, n);
}

/// So many names, which two of eight ranks set otherwise.
void write_setting_names(EntityLog& log, int n) {
  for (int rank = 0; rank < 8; ++rank) {
    for (int i = 0; i < n; ++i)
      log.info(rank, "NCCL_FOO_{} set by environment to {}.", i, rank / 6);
  }
}

void write_xids(EntityLog& log, int n) {
  write_job(log, n);
  for (int i = 0; i < n; ++i) {
    log.line(
        "Nov 20 20:52:{:02} gpu-{:05} kernel: [{}.456789] NVRM: Xid (PCI:0000:{:02x}:00): 79, "
        "pid={}, "
        "name=python3, GPU has fallen off the bus.",
        i % 60, i / 8, 77123 + i, 0x1b + i % 8 * 16, 40001 + i);
  }
}

void write_oom_kills(EntityLog& log, int n) {
  write_job(log, n);
  for (int i = 0; i < n; ++i) {
    log.line(
        "Nov 20 20:52:{:02} gpu-{:05} kernel: [{}.456789] Out of memory: Killed process {} "
        "(python3) "
        "total-vm:1kB, anon-rss:1kB, file-rss:0kB",
        i % 60, i / 8, 77123 + i, 40001 + i);
  }
}

void write_killed(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    // Each by a shell of its own, and those of a shell keep some hundreds.
    log.begin_file(fmt::format("launch.{}.log", i));
    log.line("bash: line 1: {} Killed                  env RANK={} LOCAL_RANK={} python3 train.py",
             40001 + i, i, i % 8);
  }
}

/// What torchrun says of processes that ended by a signal, or that it ended.
void write_worker_exits(EntityLog& log, int n, int signal) {
  write_job(log, n);
  for (int i = 0; i < n; ++i) {
    if (i % 8 == 0) log.begin_file(fmt::format("agent.{}.log", i / 8));
    if (signal == 0) {
      log.line(
          "W1120 20:52:37.924000 12345 torch/distributed/elastic/multiprocessing/api.py:900] "
          "Sending "
          "process {} closing signal SIGTERM",
          40001 + i);
      continue;
    }
    log.line(
        "E1120 20:52:37.924000 12345 torch/distributed/elastic/multiprocessing/api.py:874] failed "
        "(exitcode: {}) local_rank: {} (pid: {}) of binary: /usr/bin/python3",
        -signal, i % 8, 40001 + i);
  }
}

/// torchrun's table of failures, of one agent of eight ranks a file.
void write_failure_tables(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    if (i % 8 == 0) {
      log.begin_file(fmt::format("agent.{}.log", i / 8));
      log.line("train.py FAILED");
      log.line("Failures:");
    }
    log.line("[{}]:", i % 8);
    log.line("  time      : 2026-11-20_20:52:37");
    log.line("  host      : gpu-{:05}", i / 8);
    log.line("  rank      : {} (local_rank: {})", i, i % 8);
    log.line("  exitcode  : 1 (pid: {})", 40001 + i);
  }
}

/// Python's own report of a signal.
void write_fatal_errors(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) log.line("[rank{}]: Fatal Python error: Segmentation fault", i);
}

/// After which the job trains on.
void write_survived(EntityLog& log, int n) {
  write_job(log, n);
  for (int i = 0; i < n; ++i) write_traceback(log, i, fmt::format("ValueError: sample {}", i));
  for (int step = 0; step < 100; ++step) log.line("step {} loss 1.{:03}", step, step);
}

void write_destroyed(EntityLog& log, int n) {
  write_job(log, n);
  write_closed_warns(log, n);
  const Comm comm{.nranks = n};
  for (int rank = 0; rank < n; ++rank) {
    log.info(rank, "comm {:#x} rank {} nranks {} cudaDev {} busId {:x} - Destroy COMPLETE",
             comm.pointer(rank), rank, n, rank % 8, 0x1b000 + rank % 8 * 0x10000);
  }
}

void write_store_timeouts(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    log.line(
        "[rank{}]: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for "
        "clients. {}/{} clients joined.",
        i, i % 7, n);
  }
}

void write_heartbeats(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    log.line(
        "[rank{}]:[E105 09:14:03.{:09} ProcessGroupNCCL.cpp:1174] [PG ID 0 PG GUID 0(default_pg) "
        "Rank "
        "{}] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in "
        "monitoring enqueued collectives.",
        i, i, i);
  }
}

void write_steps(EntityLog& log, int n) {
  write_job(log, n);
  for (int step = 0; step < 4; ++step) {
    for (int i = 0; i < n; ++i) log.line("[rank{}]: step {} loss 1.{:03}", i, step, step);
  }
}

// Folders.

void write_files(EntityLog& log, int n) {
  const Comm comm{.nranks = n};
  for (int rank = 0; rank < n; ++rank) {
    log.begin_file(fmt::format("nccl.gpu-{:05}.{}.log", rank / 8, 40001 + rank));
    for (const std::string_view state : {"START", "COMPLETE"}) write_state(log, comm, rank, state);
  }
}

void write_plain_files(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    log.begin_file(fmt::format("host{}/log.{}", i / 8, i));
    log.line("hello {}", i);
  }
}

/// What torchrun's --log-dir holds.
void write_python_exits(EntityLog& log, int n) {
  for (int i = 0; i < n; ++i) {
    log.begin_file(fmt::format("attempt_{}/{}/stderr.log", i / 8, i % 8));
    log.line("Traceback (most recent call last):");
    log.line("  File \"train.py\", line 1, in <module>");
    log.line("ValueError: {}", i);
  }
}

void write_runs(EntityLog& log, int n) {
  for (int a = 0; a < n; ++a) {
    log.begin_file(fmt::format("run-{}.log", a));
    write_init(log, {.number = a, .nranks = 2, .first = 8 * a});
  }
}

/// Entries of a dump. The rank `short_one` made one call less.
void write_dump(EntityLog& log, int rank, int entries, int short_one) {
  log.begin_file(fmt::format("fr_trace_{}.json", rank));
  const int made = entries - (rank == short_one ? 1 : 0);
  std::string text;
  for (int i = 0; i < made; ++i) {
    const bool is_done = i < entries - 1;
    text += fmt::format(
        "{}{{\"frames\":[],\"record_id\":{},\"pg_id\":0,\"process_group\":[\"0\",\"default_pg\"],"
        "\"collective_seq_id\":{},\"p2p_seq_id\":0,\"op_id\":{},\"profiling_name\":\"nccl:all_"
        "reduce\","
        "\"time_created_ns\":{},\"input_sizes\":[[1024]],\"input_dtypes\":[\"Float\"],"
        "\"output_sizes\":[[1024]],\"output_dtypes\":[\"Float\"],\"state\":\"{}\","
        "\"time_discovered_started_ns\":null,\"time_discovered_completed_ns\":null,\"retired\":{},"
        "\"timeout_ms\":600000,\"is_p2p\":false}}",
        i == 0 ? "" : ",", i, i + 1, i + 1, 1'000'000'000'000'000'000 + i * 1000,
        is_done ? "completed" : "scheduled", is_done);
  }
  log.line(
      "{{\"version\":\"2.10\",\"nccl_version\":\"2.28.9\",\"pg_config\":{{\"0\":{{\"name\":\"0\","
      "\"desc\":\"default_pg\",\"ranks\":\"\"}}}},\"pg_status\":{{\"0\":{{"
      "\"last_enqueued_collective\":{},\"last_started_collective\":{},"
      "\"last_completed_collective\":{}}}}},\"entries\":[{}]}}",
      made, std::min(made, entries - 1), std::min(made, entries - 1), text);
}

constexpr GrowthKind kKinds[] = {
    {"ranks", write_job},
    {"tracebacks", write_tracebacks},
    {"tracebacks of a job",
     [](EntityLog& log, int n) { write_job(log, n), write_tracebacks(log, n); }},
    {"tracebacks without exception",
     [](EntityLog& log, int n) {
       for (int i = 0; i < n; ++i) write_traceback(log, i, {});
     }},
    {"watchdog lines", write_timeouts},
    {"watchdog lines of a job",
     [](EntityLog& log, int n) { write_job(log, n), write_timeouts(log, n); }},
    {"watchdog lines of as many works",
     [](EntityLog& log, int n) {
       for (int i = 0; i < n; ++i) write_timeout(log, i, 0, i, 100 + i);
     }},
    {"watchdog lines of as many groups",
     [](EntityLog& log, int n) {
       for (int i = 0; i < n; ++i) write_timeout(log, i, i, 0, 100);
     }},
    {"DistBackendErrors", write_backend_errors},
    {"DistBackendErrors of a job",
     [](EntityLog& log, int n) { write_job(log, n), write_backend_errors(log, n); }},
    {"IB WARNs", [](EntityLog& log, int n) { write_job(log, n), write_ib_warns(log, n); }},
    {"socket WARNs", [](EntityLog& log, int n) { write_job(log, n), write_closed_warns(log, n); }},
    {"shared memory WARNs", write_shm_warns},
    {"proxy WARNs", write_proxy_warns},
    {"WARNs of several kinds", write_mixed_warns},
    {"unknown WARNs", write_unknown_warns},
    {"communicators without calls", [](EntityLog& log, int n) { write_comms(log, n, 0, 0); }},
    {"communicators with calls", [](EntityLog& log, int n) { write_comms(log, n, 2, 0); }},
    {"communicators that wait", [](EntityLog& log, int n) { write_comms(log, n, 2, 1); }},
    {"communicators of two hosts each",
     [](EntityLog& log, int n) {
       for (int c = 0; c < n; ++c) write_init(log, {.number = c, .nranks = 2, .first = 8 * c + 7});
     }},
    {"communicators of one process",
     [](EntityLog& log, int n) {
       for (int c = 0; c < n; ++c) write_init(log, {.number = c, .nranks = 1});
     }},
    {"lives of a communicator", write_comm_lives},
    {"ranks of which one waits", [](EntityLog& log, int n) { write_wide_calls(log, n, false); }},
    {"ranks that call differently", [](EntityLog& log, int n) { write_wide_calls(log, n, true); }},
    {"attempts", write_attempts},
    {"mixed versions", write_versions},
    {"half-initialised hosts", write_half_hosts},
    {"half-initialised communicators", write_half_comms},
    {"communicators that call differently", write_differing_comms},
    {"ranks that come late", write_latecomers},
    {"hosts with a slow GPU", write_slow_gpus},
    {"differing settings", write_settings},
    {"names of settings", write_setting_names},
    {"Xids", write_xids},
    {"kernel's kills", write_oom_kills},
    {"processes killed", write_killed},
    {"segmentation faults", [](EntityLog& log, int n) { write_worker_exits(log, n, 11); }},
    {"aborted processes", [](EntityLog& log, int n) { write_worker_exits(log, n, 6); }},
    {"processes that a launcher ended",
     [](EntityLog& log, int n) { write_worker_exits(log, n, 0); }},
    {"rows of failures", write_failure_tables},
    {"fatal errors of Python", write_fatal_errors},
    {"exceptions survived", write_survived},
    {"WARNs and destroyed communicators", write_destroyed},
    {"time-outs of the store", write_store_timeouts},
    {"stuck watchdogs", write_heartbeats},
    {"steps of all ranks", write_steps},
    {"files of a job", write_files},
    {"files of other programs", write_plain_files},
    {"exit reports of Python", write_python_exits},
    {"runs", write_runs},
    {"Recorder entries",
     [](EntityLog& log, int n) {
       for (int rank = 0; rank < 4; ++rank) write_dump(log, rank, n, 3);
     }},
    {"Recorder dumps",
     [](EntityLog& log, int n) {
       for (int rank = 0; rank < n; ++rank) write_dump(log, rank, 4, 3);
     }},
};

}  // namespace

std::span<const GrowthKind> growth_kinds() { return kKinds; }

}  // namespace ncclog::testing

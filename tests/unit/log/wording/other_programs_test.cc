#include "log/wording/other_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "log/known_messages.h"
#include "support/event_text.h"

namespace ncclog {
namespace {

using testing::EventRow;
using testing::expect_events;
using testing::expect_every_cut_survives;

constexpr EventRow kForeignLines[] = {
    // Exceptions, by the shape of the class name.
    {"ValueError: bad", "python_exception type=ValueError message=bad"},
    {"KeyboardInterrupt", "python_exception type=KeyboardInterrupt"},
    {"Interrupt: pin B routed to IRQ 77", "- Interrupt: pin B routed to IRQ 77"},  // lspci -vvv
    {"AssertionError", "python_exception type=AssertionError"},
    {"Exception: bad", "python_exception type=Exception message=bad"},
    {"my_pkg.errors._BadError:", "python_exception type=my_pkg.errors._BadError"},
    {"ray.exceptions.RayTaskError(RuntimeError): ray::f()",
     "python_exception type=ray.exceptions.RayTaskError(RuntimeError) message=ray::f()"},
    {"RuntimeErrors: bad", "- RuntimeErrors: bad"},
    {"a RuntimeError: bad", "- a RuntimeError: bad"},
    {"RuntimeError:bad", "- RuntimeError:bad"},
    {"mapError: bad", "- mapError: bad"},
    // The ends of processes.
    {"bash: line 1:  1021 Killed                  env RANK=3 LOCAL_RANK=1 python3 train.py",
     "process_ended pid=1021 status=Killed command=env RANK=3 LOCAL_RANK=1 python3 train.py "
     "rank=3"},
    {"./run.sh: line 12: 14221 Segmentation fault      (core dumped) LOCAL_RANK=1 python3 train.py",
     "process_ended pid=14221 status=Segmentation fault command=LOCAL_RANK=1 python3 "
     "train.py"},
    {"Bus error (core dumped)", "process_ended status=Bus error"},
    {"Killed", "process_ended status=Killed"},
    {"Killed it", "- Killed it"},
    {"bash: line 1: python3: command not found", "- bash: line 1: python3: command not found"},
    // Bars.
    {" 40%|####      | 4/10 [00:01<00:02,  2.9it/s]", "progress_bar percent=40 done=4 total=10"},
    {"Evaluating:  40%|####      | 4/10 [00:01<00:02,  2.9it/s]",
     "eval_progress text=Evaluating:  40%|####      | 4/10 [00:01<00:02,  2.9it/s]"},
    {"Loading checkpoint shards:  25%|#   | 1/4 [00:01<00:03,  1.11s/it]",
     "progress_bar title=Loading checkpoint shards percent=25 done=1 total=4"},
    {"***** Running Evaluation *****", "eval_progress text=***** Running Evaluation *****"},
    {"2026-02-09 11:22:33,123 - INFO - Evaluating on 2000 samples",
     "eval_progress text=Evaluating on 2000 samples"},
    {"[INFO|trainer.py:3719] 2026-02-09 11:22:33,123 >> ***** Running Evaluation *****",
     "eval_progress text=***** Running Evaluation *****"},
    {"saving checkpoint at iteration 500", "eval_progress text=saving checkpoint at iteration 500"},
    // Steps.
    {"iteration: 2 | consumed samples: 128 | lr: 3e-4", "iteration_line iteration=2"},
    {" iteration       10/     500 | consumed samples:", "iteration_line iteration=10 total=500"},
    {"[2026-01-05 12:00:00,123] [INFO] [logging.py:128:log_dist] [Rank 0] step=10, skipped=0, lr=",
     "rank 0 iteration_line iteration=10"},
    {"[titan] 2026-01-05 12:00:00,123 - root - INFO - step:  7  loss:  7.1234",
     "iteration_line iteration=7"},
    {"iter 10: loss 10.8123, time 512.34ms", "iteration_line iteration=10"},
    {"Training epoch 0, iteration 9/99 | lr: 0.0003", "iteration_line iteration=9 total=99"},
    {"[step=10/1000,epoch=0]", "iteration_line iteration=10 total=1000"},
    {"[batch=10/500]:", "iteration_line iteration=10 total=500"},
    {"step 500 loss 3.950 tokens/s 101233", "iteration_line iteration=500"},
    {"2026-02-09 11:22:33,123 INFO trainer: Step 500: train loss 3.950",
     "iteration_line iteration=500"},
    {"Epoch [5/20] Step [30/100] Loss: 2.31", "iteration_line iteration=30 total=100"},
    {"step=fast", "- step=fast"},
    {"iteration done", "- iteration done"},
    // Tables.
    {"shm              64M   64M     0 100% /dev/shm",
     "shm_usage size=64M used=64M available=0 percent=100 mount=/dev/shm"},
    {"tmpfs          131889888 4 131889884   1% /dev/shm",
     "shm_usage size=131889888 used=4 available=131889884 percent=1 mount=/dev/shm"},
    {"tmpfs on /dev/shm", "- tmpfs on /dev/shm"},
    {"max locked memory           (kbytes, -l) unlimited",
     "memlock_limit limit=unlimited unit=kbytes"},
    {"Max locked memory         65536                65536                bytes",
     "memlock_limit limit=65536 unit=bytes"},
    {"root@node-a:/opt# mpirun -np 1 bash -c 'ulimit -l' 8192", "memlock_limit limit=8192"},
    {"root@node-a:/opt# mpirun -np 1 bash -c 'ulimit -l'",
     "shell_command command=mpirun -np 1 bash -c 'ulimit -l' host=node-a"},
    {"GPU1\tNV18\t X \tNV18\tSYS\t0-15\t0", "topo_matrix_row gpu=1 cells=NV18\t X \tNV18\tSYS"},
    {"\tGPU0\tGPU1\tGPU2", "- \tGPU0\tGPU1\tGPU2"},
    {"mlx5_0\t1\t0\tfe80:0000:0000:0000:0c42:a1ff:fe4e:71d2\t\t\tv1\tens2f0",
     "gid_row device=mlx5_0 port=1 index=0 gid=fe80:0000:0000:0000:0c42:a1ff:fe4e:71d2 version=v1 "
     "interface=ens2f0"},
    {"mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a78:021f\t10.120.2.31  \tv2\tens2f0",
     "gid_row device=mlx5_0 port=1 index=3 gid=0000:0000:0000:0000:0000:ffff:0a78:021f "
     "address=10.120.2.31 version=v2 interface=ens2f0"},
    // nccl-tests, old and new.
    {"#   Rank  0 Pid  71430 on   kvm-a device  0 [0x05] GeForce GTX 1080 Ti",
     "nccl_tests_rank rank=0 pid=71430 host=kvm-a device=0 bus_id=0x05 gpu=GeForce GTX 1080 Ti"},
    {"#  Rank 10 Group  0 Pid  79307 on    dgx-a09 device  2 [0000:52:00] NVIDIA H100 80GB HBM3",
     "nccl_tests_rank rank=10 group=0 pid=79307 host=dgx-a09 device=2 bus_id=0000:52:00 gpu=NVIDIA "
     "H100 "
     "80GB HBM3"},
    {"     1048576        262144   float     sum    819.0    1.28    1.92  2e-07    801.3    1.31  "
     "  "
     "1.96  2e-07",
     "nccl_tests_result size=1048576 count=262144 datatype=float redop=sum time=819.0 algbw=1.28 "
     "busbw=1.92 wrong=2e-07 time_in_place=801.3 algbw_in_place=1.31 busbw_in_place=1.96 "
     "wrong_in_place=2e-07"},
    {"8388608 2097152 float sum -1 4915.3 1.71 3.20 4 5012.1 1.67 3.14 N/A",
     "nccl_tests_result size=8388608 count=2097152 datatype=float redop=sum root=-1 time=4915.3 "
     "algbw=1.71 busbw=3.20 wrong=4 time_in_place=5012.1 algbw_in_place=1.67 busbw_in_place=3.14 "
     "wrong_in_place=N/A"},
    // Prompts.
    {"$ ibdev2netdev", "shell_command command=ibdev2netdev"},
    {"[hgx12 ~]# systemctl status nvidia-fabricmanager",
     "shell_command command=systemctl status nvidia-fabricmanager"},
    {"(venv) ada@node-a:~/x$ python train.py", "shell_command command=python train.py host=node-a"},
    {"ada@node-a:~$", "- ada@node-a:~$"},
};

TEST(ForeignLines, AreUnderstoodByTheirShape) { expect_events(kForeignLines); }

TEST(ForeignLines, SurviveEveryCut) { expect_every_cut_survives(kForeignLines); }

TEST(ForeignLines, SurviveEveryByte) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string line{static_cast<char>(first), static_cast<char>(second)};
      EXPECT_NE(parse_event(line, all_wordings()).fate, LineFate::Unrecognised);
    }
  }
}

TEST(EvalTitles, AreToldFromTrainingAndLoading) {
  for (const std::string_view title :
       {"Validation", "Evaluating", "eval 3", "Testing", "Generating", "Saving checkpoint"})
    EXPECT_TRUE(is_eval_title(title)) << title;
  for (const std::string_view title :
       {"", "Training", "Epoch 3", "Loading checkpoint shards", "Downloading test data"})
    EXPECT_FALSE(is_eval_title(title)) << title;
}

constexpr std::string_view kErrors[] = {
    "[rank3]: ncclRemoteError: A call failed possibly due to a network error",
    "srun: error: node7: task 9: Exited with exit code 134",
    "node4.cluster.example: rank 4 died from signal 6 and dumped core",
    "worker 3 exited with code 1",
    "container exited with code 0x8b",
    "lookup of head-0 failed (gai error: -2 - Name or service not known)",
    "???:41:42 NCCL WARN Call to bind failed",
    "./run.sh: line 7: 4711 Aborted  (core dumped) python train.py",
};

constexpr std::string_view kOthers[] = {
    "worker 3 exited with code 0",
    "srun: job 4711 exited with exit code 0.",
    "    raise RuntimeError('ncclSystemError')",
    "(Worker pid=509) ERROR 04-13 19:52:24 [executor.py:800]     raise "
    "ValueError('ncclSystemError')",
    "# ncclInternalError means that a check failed",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING=1",
    "step 3 loss 0.12",
    "",
};

TEST(ErrorLine, KnowsWhatReportsAnError) {
  for (const std::string_view line : kErrors) EXPECT_TRUE(looks_like_error(line)) << line;
  for (const std::string_view line : kOthers) EXPECT_FALSE(looks_like_error(line)) << line;
}

/// Lines without any needle are never asked.
TEST(ErrorLine, EveryErrorHoldsANeedle) {
  const auto needles = error_needles();
  for (const std::string_view line : kErrors) {
    EXPECT_TRUE(std::any_of(needles.begin(), needles.end(), [&](std::string_view needle) {
      return line.find(needle) != line.npos;
    })) << line;
  }
}

}  // namespace
}  // namespace ncclog

"""Bus bandwidth of AllReduce over size, and calls of a loop in which one rank may be late.

torchrun --nproc-per-node 2 bench.py [--loop STEPS [--late RANK | --beside RANK] --dumps FOLDER]

Rank 0 prints the table. With --loop, each rank writes a Flight Recorder dump with the durations of
its calls. --late: that rank sleeps 20 ms before each tenth call. --beside: on that rank a kernel
that takes most SMs runs beside each call.
"""
import argparse, os, time
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--loop", type=int, default=0)
parser.add_argument("--late", type=int, default=-1)
parser.add_argument("--beside", type=int, default=-1)
parser.add_argument("--dumps", default="")
parser.add_argument("--max-bytes", type=int, default=1 << 30)
options = parser.parse_args()

local = int(os.environ["LOCAL_RANK"])
# Ranks with host ids of their own are as many hosts to NCCL, which then takes the network.
if os.environ.get("HOST_EACH") == "1":
    os.environ["NCCL_HOSTID"] = f"host-{local}"
torch.cuda.set_device(local)
dist.init_process_group("nccl", device_id=torch.device("cuda", local))
rank, ranks = dist.get_rank(), dist.get_world_size()
stream = torch.cuda.current_stream()

SPIN = r"""
extern "C" __global__ void spin(long long cycles) {
  extern __shared__ char taken[];
  long long begin = clock64();
  while (clock64() - begin < cycles) taken[threadIdx.x] = (char)begin;
}
"""


def make_beside():
    import cupy
    kernel = cupy.RawKernel(SPIN, "spin")
    kernel.max_dynamic_shared_size_bytes = 160 * 1024
    sms = torch.cuda.get_device_properties(local).multi_processor_count
    own = torch.cuda.Stream()

    def run(cycles):
        with cupy.cuda.Stream.from_external(own):
            kernel((sms - 12,), (512,), (cycles,), shared_mem=160 * 1024)
    return run


beside = make_beside() if options.beside == rank else None


def measure(count, iterations):
    data = torch.ones(count, device="cuda")
    for _ in range(3):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    dist.barrier()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(iterations):
        if beside:
            beside(30_000_000)
        dist.all_reduce(data)
    end.record()
    torch.cuda.synchronize()
    took = torch.tensor([begin.elapsed_time(end) * 1e3 / iterations], device="cuda")
    dist.all_reduce(took, dist.ReduceOp.MAX)
    return took.item()


def table():
    if rank == 0:
        print(f"# bench.py all_reduce, {ranks} ranks, torch {torch.__version__}")
        print("#       size         count      type   redop    time   algbw   busbw")
        print("#        (B)    (elements)                       (us)  (GB/s)  (GB/s)", flush=True)
    size = 8
    while size <= options.max_bytes:
        time_us = measure(size // 4, 5 if size > 1 << 26 or options.beside >= 0 else 20)
        if rank == 0:
            algbw = size / time_us / 1e3
            busbw = algbw * 2 * (ranks - 1) / ranks
            print(f"{size:12d}  {size // 4:12d}     float     sum {time_us:8.1f} {algbw:7.2f} {busbw:7.2f}",
                  flush=True)
        size *= 8 if size < 1 << 20 else 2


def loop():
    data = torch.ones(8 << 20, device="cuda")
    a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    for step in range(options.loop):
        b = a @ a
        if rank == options.late and step % 10 == 9:
            time.sleep(0.02)
        if beside:
            beside(30_000_000)
        dist.all_reduce(data)
        torch.cuda.synchronize()
    if options.dumps:
        from torch._C._distributed_c10d import _dump_nccl_trace
        time.sleep(1)
        with open(f"{options.dumps}/nccl_trace_rank_{rank}", "wb") as dump:
            dump.write(_dump_nccl_trace(includeCollectives=True, includeStackTraces=False, onlyActive=False))


if options.loop:
    loop()
else:
    table()
dist.destroy_process_group()

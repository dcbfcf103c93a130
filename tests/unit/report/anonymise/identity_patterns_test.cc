// Which names are found in real lines, and which words of NCCL are none?

#include "report/anonymise/identity_patterns.h"

#include <gtest/gtest.h>

#include "support/processor_time.h"

namespace ncclog {
namespace {

std::string found_in(std::string_view text) {
  KnownHosts hosts;
  for (const char* host : {"gpu-n41", "vm", "job-7741-worker-0"}) hosts.add(host);
  std::string result;
  for (const FoundIdentity& found : find_identities(text, hosts)) {
    if (!result.empty()) result += ", ";
    result += std::string(to_string(found.kind)) + " " +
              std::string(text.substr(found.begin, found.length));
  }
  return result;
}

struct IdentityRow {
  const char* text;
  const char* found;
};

constexpr IdentityRow kIdentities[] = {
    // Shapes.
    {"Using [0]eth0:10.12.8.41<0> [1]ib0:fe80::ee0d:9aff:fe12:3456%ib0<0>",
     "address 10.12.8.41, address fe80::ee0d:9aff:fe12:3456"},
    {"from peer 101.262.0.9<4791> of 1.2.3.400", "guid 101.262.0.9"},
    {"localGid ::ffff:10.12.8.41 remoteGids::ffff:10.12.8.42",
     "address 10.12.8.41, address 10.12.8.42"},
    {"RAS client listening at ::1<28028>", "address ::1"},
    {"server 10.12.9.77 of release 1.2.3.4", "address 10.12.9.77"},
    {"b8:59:9f:a2:34:56 [ether] host=fe80::ee0d:9a03",
     "hardware b8:59:9f:a2:34:56, address fe80::ee0d:9a03"},
    {"uuid: 2f1e07c4-9d0b-4c55-8a51-0f6c1d2e3f40", "guid 2f1e07c4-9d0b-4c55-8a51-0f6c1d2e3f40"},
    {"link/ether b8:59:9f:12:34:56 brd ff:ff:ff:ff:ff:ff", "hardware b8:59:9f:12:34:56"},
    {"ether b8-59-9f-12-34-56, ff-ff-ff-ff-ff-ff", "hardware b8-59-9f-12-34-56"},
    {"node_guid: ec0d:9a03:0012:3456", "guid ec0d:9a03:0012:3456"},
    {"Port GUID: 0xec0d9a0300123456", "guid ec0d9a0300123456"},
    {"Base lid: 77 SM lid: 1 remoteLid 34", "lid 77, lid 1, lid 34"},
    {"(UUID: GPU-2f1e07c4-9d0b-4c55-8a51-0f6c1d2e3f40)",
     "guid 2f1e07c4-9d0b-4c55-8a51-0f6c1d2e3f40"},
    {"+ NET[25.0] - NET/0-0 (43bab50003a1420c/1/25.0)", "guid 43bab50003a1420c"},
    // Keys.
    {"SLURM_JOB_NAME=pretrain-x SLURM_JOB_ID=481516", "name pretrain-x, job 481516"},
    {"--rdzv-id falcon-9 --rdzv_endpoint=n7.corp.local:29500",
     "name falcon-9, host n7, domain corp.local"},
    {"run_id : none, rdzv_id=none, job_id: 7", ""},
    {"SLURM_JOB_NODELIST=gpu-n[41-48,50]", "name gpu-n[41-48,50]"},
    {"{\"username\": \"alice.w\", \"password\": \"hunter2x!\"}", "user alice.w, secret hunter2x!"},
    {"WANDB_API_KEY=0123456789abcdef0123 MY_TOKEN set", "secret 0123456789abcdef0123"},
    {"NCCL INFO CORP_SECRET set by environment to abc!def.", "secret abc!def."},
    {"num_tokens: 123456 eos_token=7777777 bos_token_id=128000", ""},
    {"token=7777777 DB_PASSWORD: 12345678", "secret 7777777, secret 12345678"},
    {"moe_token_dispatcher_type='allgather' token_type: abcdefgh", ""},
    {"api_token=abcdefgh --hf-token abcdefgi SECRET_2=abcdefgj token_value: abcdefgk",
     "secret abcdefgh, secret abcdefgi, secret abcdefgj, secret abcdefgk"},
    {"use hf_AbCdEfGhIjKlMn123456 or AKIAIOSFODNN7EXAMPLE",
     "secret hf_AbCdEfGhIjKlMn123456, secret AKIAIOSFODNN7EXAMPLE"},
    {"Authorization: Bearer abcdef0123456789.x", "secret abcdef0123456789.x"},
    {"-H \"Authorization: Basic dXNlcjpwYXNz\" -v", "secret dXNlcjpwYXNz"},
    {"authorization=token abcdefghij, x", "secret abcdefghij"},
    {"{'Proxy-Authorization': 'BEARER abcdefghijklmnopqrst'}", "secret abcdefghijklmnopqrst"},
    {"Authorization: Basic YTpi", "secret YTpi"},
    {"\"Authorization\": \"Token a;b\", Bearer abcdefgh01234567",
     "secret a;b, secret abcdefgh01234567"},
    {"PASSWORD=\"hunter2,extra9\" x", "secret hunter2,extra9"},
    {"password: 'a;b)c|d&e f' x", "secret a;b)c|d&e f"},
    {"{\\\"password\\\": \\\"hunter2,extra9\\\"}", "secret hunter2,extra9"},
    {"PASSWORD=\"\" USER=\"alicew\"", "user alicew"},
    {"{\"user\":\"alicew\",\"host\":\"my_box\"}", "user alicew, host my_box"},
    {"PASSWORD='hunter2x\nUSER='alicew'", "secret hunter2x, user alicew"},
    {"PASSWORD=$ecret99 TOKEN=<abc!def SECRET='{abcdef'",
     "secret $ecret99, secret <abc!def, secret {abcdef"},
    {"PASSWORD=$DB_PASSWORD TOKEN=<redacted> SECRET='{{ vault.x }}' TOKEN=${HF_TOKEN}", ""},
    {"env='-----BEGIN EC PRIVATE KEY-----\\nMHcCAQEEIIab01234567\\nAwEHoUQ=\\n-----END",
     "secret MHcCAQEEIIab01234567\\nAwEHoUQ=\\n"},
    {"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0b alice@laptop",
     "secret AAAAC3NzaC1lZDI1NTE5AAAAIJ0b, user alice, host laptop"},
    {"ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB bob's key", "secret AAAAB3NzaC1yc2EAAAADAQAB, name bob"},
    {"ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB", "secret AAAAB3NzaC1yc2EAAAADAQAB"},
    {"key fingerprint is SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8.",
     "secret nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8"},
    {"https://acct7.blob.core.windows.net/data/x?se=2026&sig=abcDEF0123456789%2Bxyz%3D",
     "name acct7, path /data/x, secret abcDEF0123456789%2Bxyz%3D"},
    {"X-Amz-Signature=0123456789abcdef0123 AccountName=acct7;AccountKey=abcdEFGH01/==",
     "secret 0123456789abcdef0123, name acct7, secret abcdEFGH01/=="},
    {"api_key: WANDB_API_KEY secret=HF_TOKEN token: required password=missing", ""},
    {"eos_token: 'endoftext' pad_token=[PAD-TOKEN] WANDB_API_KEY not set", ""},
    // People and machines.
    {"ssh alice@gpu-n41.corp.com", "user alice, host gpu-n41, domain corp.com"},
    {"mail bob.smith@acme-labs.com", "email bob.smith@acme-labs.com"},
    {"[bob@login3 ~]$ squeue", "user bob, host login3"},
    {"root@job-7741-worker-0:/# show_gids", "host job-7741-worker-0"},
    {"job-7741-worker-0:1:1 [0] NCCL INFO x", "host job-7741-worker-0"},
    {"NCCL INFOvm:1296:1297 [0] NCCL", "host vm"},
    {"see gpu-n57 and gpu-n57x", "host gpu-n57"},
    {"failed to connect to [gpu-n42.hpc.acme.com]:29500", "host gpu-n42, domain hpc.acme.com"},
    {"slurmstepd: error: *** JOB 481516 ON gpu-x9 CANCELLED", "job 481516, host gpu-x9"},
    {"srun: error: gpu-x9: task 3: Killed", "host gpu-x9"},
    {"srun -J falcon -A bigmoney -n 8 x", "name falcon, name bigmoney"},
    {"wandb: Currently logged in as: alicew (acme-team).", "user alicew, name acme-team"},
    {"wandb: Syncing run falcon-sweep, run a-bc/d", "name falcon-sweep"},
    {"#   Rank  0 Pid  71430 on   kvm-gpu1 device  0", "host kvm-gpu1"},
    {"tcp://bob:pa55word@store.acme.com:80/x/y",
     "user bob, secret pa55word, domain acme.com, path /x/y"},
    {"https://alice:p!ss@host7/", "user alice, secret p!ss, host host7"},
    {"https://alice:p@s,s@n7.acme.com:80 x", "user alice, secret p@s,s, host n7, domain acme.com"},
    {"s3://acme-bucket/corpus/a", "name acme-bucket, path /corpus/a"},
    {"open \"/home/alice/x.py\", -I/opt/x $HOME/y", "path /home/alice/x.py, path /opt/x, path /y"},
    {"ssh: connect to host zebra port 22: Connection refused", "host zebra"},
    {"ssh: Could not resolve hostname zebra: Name or service not known", "host zebra"},
    {"Warning: Permanently added 'zebra,10.1.2.3' (ED25519)", "host zebra, address 10.1.2.3"},
    {"mpirun -H zebra:8,kraken:8 -np 16", "host zebra, host kraken"},
    {"pdsh -w zebra,kraken uptime, curl -H x -w y", "host zebra, host kraken"},
    {"deepspeed --include=\"zebra:0,1@kraken:2\"", "host zebra, host kraken"},
    {"hosts=[\"zebra\", \"kraken\"] host=walrus,port=22", "host zebra, host kraken, host walrus"},
    {"hosts: recorded 2 hosts, hosts = 4", ""},
    {"nid001234: task 3, x3006c0s13b1n0.hsn", "host nid001234, host x3006c0s13b1n0"},
    {"Acc@1   0.00 (  0.00)  Acc@5   0.00", ""},
    // Images, folders of Windows, serial numbers.
    {"image: registry.acme.com:5000/zebra/llama:7",
     "host registry, domain acme.com, path zebra/llama"},
    {"docker run nvcr.io/acme/x:24.01, nvcr.io#acme/y ghcr.io/acme/z@sha256:abcd",
     "path acme/x, path acme/y, path acme/z"},
    {"pull 123456789012.dkr.ecr.us-east-1.amazonaws.com/zebra/x acmeacr.azurecr.io/y/z",
     "job 123456789012, path zebra/x, name acmeacr, path y/z"},
    {"run n7.acme.com:5000/zebra/x", "host n7, domain acme.com, path zebra/x"},
    {"image processing/loading, images/sec 12/34, image=pytorch/pytorch:2.1", ""},
    {"C:\\Users\\Alice Smith\\logs\\x.txt", "user Alice Smith, path \\logs\\x.txt"},
    {"D:\\\\zork\\\\x.py \\\\filer7\\share\\y \\\\nfoo\\\\nbar \\\\xe2\\\\x80",
     "path \\\\zork\\\\x.py, host filer7, path \\share\\y"},
    {"Serial Number   : 1654922003456, Serial Number : N/A, serial port ttyS0",
     "guid 1654922003456"},
    {"[SN] Serial number: MT2215X01234 SN: ABC1234567", "guid MT2215X01234, guid ABC1234567"},
    // Hosts by the process behind them, in lines of any kind.
    {"??hvd1:2918:3332 [0] NCCL INFO x", "host hvd1"},
    {"CUMx3006c0s19b1n0:29:30 NCCL", "host CUMx3006c0s19b1n0"},
    {"Channel 01gpu-n41:2918:3332 [0]", "host gpu-n41"},
    {"my_box.corp.edu:77:78 [1] NCCL", "host my_box, domain corp.edu"},
    {"zebra7:2918:3332", "host zebra7"},
    {"2024-05-05T12:34:56 [0] 2024-05-05T12:34:56.789 x", ""},
    {"socket.cc:717:313 12:34:56 error:29:30 node:1:1 [0]", ""},
    // What announces one.
    {"(RayWorker pid=4131, ip=jwb0582i) x", "host jwb0582i"},
    {"  host      : zebra7.acme.org", "host zebra7, domain acme.org"},
    {"task 3 on node zebra-7 failed, on node 3 of node-local", "host zebra-7"},
    {"addr=[zebra7.x.org]:29500, remote=[kite9]:1", "host zebra7, domain x.org, host kite9"},
    {"srun: error: nid001261: tasks 0-3: Killed", "host nid001261"},
    {"srun: error: gpu-node-01: task 1: Killed", "host gpu-node-01"},
    {"on host rank-0 and on host x86_64", ""},
    {"The node 'zebra7_4131_0' has left", "host zebra7"},
    {"nodes zebra[01-16,20] and ranks[0-7] of gpu[0-3]", "name zebra[01-16,20]"},
    {"gpu-n[41-48]", "name gpu-n[41-48]"},
    {"PET_MASTER_ADDR=zebra7 MY_JOB_NAME=falcon-7 SLURM_X_NODELIST=a[1-2]",
     "host zebra7, name falcon-7, name a[1-2]"},
    {"UserId=alicew(1001) GroupId=lab9(1001)", "user alicew, name lab9(1001"},
    {"pod/falcon-x7-master-0 in namespace \"team-zebra\"",
     "name falcon-x7-master-0, name team-zebra"},
    {"see llama-7d9f8b6c54-x2k4p and dgx-xfpt6 of nccl-tests",
     "host llama-7d9f8b6c54-x2k4p, host dgx-xfpt6"},
    {"llama-7d9f8b6c54-xkqrp, llama-benchmark-plans", "host llama-7d9f8b6c54-xkqrp"},
    {"mail.acme.com, zebra.corp.io, kite.dev:80, x.dev y",
     "host mail, domain acme.com, host zebra, domain corp.io, domain kite.dev"},
    {"i-0abc12345678def90 arn:aws:iam::123456789012:role/x ip-0A230405",
     "host i-0abc12345678def90, name arn:aws:iam::123456789012:role/x, host ip-0A230405"},
    {"torn/home/alicew/y", "path /home/alicew/y"},
    {"fabric UUID 1b8f2f8e8a0b2e4c.e4d1 cliqueId", "guid 1b8f2f8e8a0b2e4c.e4d1"},
    {"frank@lab.dlfr", "email frank@lab.dlfr"},
    // NCCL's and everybody's own.
    {"comm 0x3ccb6960 rank 0 busId 0000:17:00.0 commId 0x7790e3b02d99b5e4 opCount 1b", ""},
    {"Channel 00/0 : 1[1] -> 2[2] via P2P/CUMEM/read NET/IB/0/GDRDMA mlx5_0:1/IB bond0", ""},
    {"misc/socket.cc:57 ../torch/csrc/x.cpp c10d::ProcessGroup at::native a::b 12:34:56", ""},
    {"libfabric version 1.18.1.0, libx.so@VERS_1, image@sha256:abcd, 2.9it/s </s>", ""},
    {"transport/[net_ib.cc:101](http://net_ib.cc:101/) NCCL WARN", ""},
    {"see http://net_ib.cc:101/", "host net_ib, domain cc"},
    {"host=https://github.com/x and https://github.com.", ""},
    {"https://huggingface.co/meta-llama/Llama-2-7b", "path /meta-llama/Llama-2-7b"},
    {"https://docs.nvidia.com/nccl/user/x and torch.distributed.run, self.net x.py", ""},
};

TEST(IdentityScan, FindsNamesAndLeavesTheWordsOfNccl) {
  for (const IdentityRow& row : kIdentities) EXPECT_EQ(found_in(row.text), row.found) << row.text;
}

TEST(IdentityScan, TakesALoginOfAnyLength) {
  const std::string token(2000, 'x');
  EXPECT_EQ(found_in("https://alice:" + token + "@host7/"),
            "user alice, secret " + token + ", host host7");
}

constexpr const char* kHostileParts[] = {"a-",         "a.",
                                         "0:",         "/",
                                         "a@",         "token=",
                                         "://",        "\xff",
                                         "-I/",        "10.1.1.1.",
                                         "hf_/",       "eyJ.",
                                         "user=a/",    "nodelist=a ",
                                         "a://a@",     "token=/x",
                                         "user=a.",    "nodelist=1,",
                                         "Bearer hf_", "token=\"/",
                                         "token='",    "nodelist=a.",
                                         "token=$A",   "gpu-n1-",
                                         "token=${",   "[a.cc](http://",
                                         "-H a,",      "image x.y/",
                                         "C:\\a",      "\\\\a1\\b",
                                         "hosts=a,",   "-----BEGIN A----- ",
                                         "ssh-rsa A",  "ssh-rsa AAAA b ",
                                         "a.b:80/",    "serial: "};

std::string repeated(std::string_view part, size_t size) {
  std::string text;
  while (text.size() < size) text += part;
  return text;
}

/// What is found lies in the text, in order, and is not empty.
bool finds_only_what_is_there(const std::string& text, const KnownHosts& hosts) {
  size_t end = 0;
  for (const FoundIdentity& found : find_identities(text, hosts)) {
    if (found.begin < end || found.length == 0) return false;
    end = found.begin + found.length;
  }
  return end <= text.size();
}

TEST(IdentityScan, TakesAnyBytesInLinearTime) {
  constexpr size_t kSize = size_t{256} << 10;
  KnownHosts hosts;
  hosts.add("gpu-n1");
  for (const char* part : kHostileParts) {
    EXPECT_EXIT(
        {
          testing::limit_processor_time();
          _exit(finds_only_what_is_there(repeated(part, kSize), hosts) ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "")
        << part;
  }
}

struct PathRow {
  const char* path;
  const char* parts;
};

constexpr PathRow kPaths[] = {
    {"/home/alice/zork/run_7/train.py", "user alice, folder zork"},
    {"/models/meta-llama/Llama-3.1-8B-Instruct/sft_llama_7b.py", ""},
    {"/home/user/.venv/bin/torchrun", ""},
    {"\\projects\\zork\\finetune.py", "folder zork"},
    {"/home/ubuntu/logs/fr_3", ""},
    {"/usr/lib/x86_64-linux-gnu/libnccl.so.2", ""},
    {"/dev/shm/nccl-AbCdEf", ""},
    {"/usr/local/cuda-12.4/lib64/libcudart.so", ""},
    {"/opt/acme/lib/libnccl-net.so", "folder acme"},
    {"/data/big-corpus/frodo.py", "folder big-corpus, file frodo.py"},
    {"/home/bob/.conda/envs/falcon/lib/python3.12/site-packages/torch/nn/zork.py",
     "user bob, folder falcon"},
};

TEST(PathParts, OnlySomebodysOwnAreToBeReplaced) {
  for (const PathRow& row : kPaths) {
    std::string parts;
    for (const FoundIdentity& part : private_parts(row.path)) {
      if (!parts.empty()) parts += ", ";
      parts += std::string(to_string(part.kind)) + " " +
               std::string(row.path).substr(part.begin, part.length);
    }
    EXPECT_EQ(parts, row.parts) << row.path;
  }
}

}  // namespace
}  // namespace ncclog

// The programs of crates/network/benches/flow.rs in SimGrid, for times side by side on one machine.
// Usage: peer all_to_all HOSTS BYTES UNDER_LEAF | ring HOSTS BYTES UNDER_LEAF
// Prints: simulated seconds. Pure max-min: no TCP corrections, no cross traffic.
#include <simgrid/s4u.hpp>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
namespace sg4 = simgrid::s4u;

static std::vector<sg4::Host*> hosts;
static double bytes;

static void all_to_all(int rank)
{
  std::vector<sg4::CommPtr> all;
  const int n = static_cast<int>(hosts.size());
  for (int to = 0; to < n; to++) {
    if (to == rank)
      continue;
    all.push_back(sg4::Comm::sendto_async(hosts[rank], hosts[to], bytes));
  }
  sg4::Comm::wait_all(all);
}

static void ring(int rank)
{
  const int n        = static_cast<int>(hosts.size());
  const int next     = (rank + 1) % n;
  sg4::Mailbox* mine = sg4::Mailbox::by_name(std::to_string(rank));
  sg4::Mailbox* to   = sg4::Mailbox::by_name(std::to_string(next));
  int* payload       = nullptr;
  int word           = 0;
  for (int step = 0; step < 2 * (n - 1); step++) {
    auto send    = to->put_async(&word, bytes / n);
    auto receive = mine->get_async<int>(&payload);
    send->wait();
    receive->wait();
  }
}

int main(int argc, char* argv[])
{
  sg4::Engine e(&argc, argv);
  e.set_config("network/model:CM02");
  e.set_config("network/crosstraffic:0");
  e.set_config("network/TCP-gamma:0");
  e.set_config("network/weight-S:0");
  e.set_config("network/latency-factor:1");
  e.set_config("network/bandwidth-factor:1");
  const char* program = argc > 1 ? argv[1] : "all_to_all";
  const int n         = argc > 2 ? atoi(argv[2]) : 64;
  bytes               = argc > 3 ? atof(argv[3]) : 1e6;
  const int leaf      = argc > 4 ? atoi(argv[4]) : 8;
  auto* zone          = sg4::create_fatTree_zone(
      "fat", nullptr,
      sg4::FatTreeParams(2, {(unsigned)leaf, (unsigned)(n / leaf)}, {1, (unsigned)leaf}, {1, 1}),
      {[](sg4::NetZone* z, const std::vector<unsigned long>&, unsigned long id) {
         auto* host = z->create_host("h" + std::to_string(id), 1e9);
         return std::make_pair(host->get_netpoint(), nullptr);
       },
       {}, {}},
      50e9, 1e-6, sg4::Link::SharingPolicy::SPLITDUPLEX);
  zone->seal();
  for (int i = 0; i < n; i++)
    hosts.push_back(e.host_by_name("h" + std::to_string(i)));
  for (int i = 0; i < n; i++)
    sg4::Actor::create("r" + std::to_string(i), hosts[i], !strcmp(program, "ring") ? ring : all_to_all, i);
  e.run();
  printf("%.9f\n", sg4::Engine::get_clock());
  return 0;
}

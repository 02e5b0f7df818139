// The programs of crates/network/benches/flow.rs in SimGrid, for times side by side on one machine.
// Usage: peer all_to_all HOSTS BYTES UNDER_LEAF | ring HOSTS BYTES UNDER_LEAF | case FILE
// FILE has the format of crates/network/tests/support/case.rs. Prints: simulated seconds, and for a file the largest relative distance of
// an end from that of the file. Pure max-min: no TCP corrections, no cross traffic.
#include <simgrid/s4u.hpp>
#include <cstdio>
#include <cmath>
#include <cstring>
#include <fstream>
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

struct Listed {
  int from, to;
  double bytes, delay, expected, end;
  std::vector<int> after, before;
  sg4::SemaphorePtr may_begin;
};

// The flows of a file, one actor each. Latency and delay pass before a flow begins, and do not weigh its share.
static int play(sg4::Engine& e, const char* file)
{
  std::ifstream in(file);
  std::string word, line;
  std::getline(in, line);
  std::getline(in, line);
  int n;
  in >> word >> n;
  auto* zone = sg4::create_full_zone("all");
  std::vector<sg4::Link*> links;
  for (int i = 0; i < n; i++) {
    double capacity, latency;
    in >> capacity >> latency;
    links.push_back(zone->create_link("l" + std::to_string(i), capacity)->set_latency(0)->seal());
  }
  in >> word >> n;
  for (int i = 0; i < n; i++)
    hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9)->seal());
  std::vector<std::vector<double>> latencies(n, std::vector<double>(n));
  in >> word >> n;
  for (int i = 0; i < n; i++) {
    int from, to, count;
    double latency;
    in >> from >> to >> latency >> count;
    std::vector<sg4::LinkInRoute> route;
    for (int k = 0; k < count; k++) {
      int link;
      double share;
      in >> link >> share;
      route.emplace_back(links.at(link));
    }
    latencies[from][to] = latency;
    zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, false);
  }
  zone->seal();
  in >> word >> n;
  std::vector<Listed> flows(n);
  for (int i = 0; i < n; i++) {
    Listed& flow = flows[i];
    int count;
    in >> flow.from >> flow.to >> flow.bytes >> flow.delay >> flow.expected >> count;
    flow.after.resize(count);
    for (int& before : flow.after)
      in >> before;
    flow.may_begin = sg4::Semaphore::create(0);
  }
  for (int i = 0; i < n; i++)
    for (int before : flows[i].after)
      flows[before].before.push_back(i);
  for (Listed& flow : flows)
    sg4::Actor::create("f", hosts[flow.from], [&flow, &flows, &latencies] {
      for (size_t k = 0; k < flow.after.size(); k++)
        flow.may_begin->acquire();
      sg4::this_actor::sleep_for(flow.delay + latencies[flow.from][flow.to]);
      sg4::Comm::sendto(hosts[flow.from], hosts[flow.to], flow.bytes);
      flow.end = sg4::Engine::get_clock();
      for (int next : flow.before)
        flows[next].may_begin->release();
    });
  e.run();
  double worst = 0;
  for (const Listed& flow : flows)
    worst = std::max(worst, std::fabs(flow.end - flow.expected) / std::max(flow.expected, 1e-12));
  printf("%.9f %.2e\n", sg4::Engine::get_clock(), worst);
  return 0;
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
  if (argc > 2 && !strcmp(program, "case"))
    return play(e, argv[2]);
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

// Makes the thread of main() the OpenMP runtime's first: libomp 14 looks at thread 0 wherever a critical section ends
// and a tool such as Archer listens, and crashes if that thread has ended meanwhile.
namespace {

[[gnu::constructor]] void open_first_region() {
#pragma omp parallel num_threads(1)
  {}
}

}  // namespace

// Makes load over HTTP/1.1 keep-alive connections from one thread, at full speed or at a constant rate, and prints what
// it measured as one line of JSON. Linux only. Arguments, each as name=value:
//
//   port          on 127.0.0.1
//   targets       a file with one request target in each line; what follows a blank there is the body of a POST
//   pick          even: at random; zipf: at random, the n-th line with weight 1/n; turn: one line after the other
//   connections   number of connections
//   seconds       time after which no more requests are sent, or
//   requests      number of requests after which no more are sent
//   rate          requests a second at even distances; without it each connection sends as soon as it was answered
//   depth         requests in flight on each connection, without a rate
//   headers       a file with further header lines, each ended by CRLF
//   nonce         1: each request has a nonce of its own
//   seed          of the random choice
//
// At a constant rate the latency of a request counts from the moment at which it was due, not from when a connection was
// free for it: a server that stalls delays all requests of that time, and all of them are counted.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define BUFFER 65536
#define MAX_DEPTH 64
#define NONCE "x-receipt-nonce: bench-nonce-000000000000\r\n"
#define NONCE_DIGITS 12
/** How long is waited for answers after the last request, in nanoseconds. */
#define GRACE_NS 5000000000LL

typedef struct {
  char *bytes;
  size_t length;
} Text;

typedef struct {
  int fd;
  int in_flight;
  /** When each request in flight was sent or due, the oldest at `head`. */
  int64_t since[MAX_DEPTH];
  int head;
  /** What is left to send. */
  char *out;
  size_t out_length, out_sent, out_capacity;
  /** What has arrived of a header. */
  char in[BUFFER];
  size_t in_length;
  /** What is still to come of a body. */
  size_t body_left;
  int waits_for_write;
} Connection;

static Text *requests;
static size_t target_count;
static double *cumulative;
static char pick = 'e';
static size_t turn;
static uint64_t random_state = 88172645463325252ULL;
static struct sockaddr_in address;
static int epoll_fd;
static Connection *connections;
static int connection_count = 64, depth = 1, nonces;
static int *idle_stack, idle_count;
static int64_t sent, answered, refused_connections, cut, most_requests = INT64_MAX;
static int64_t statuses[600], cache_hits, cache_misses, cache_stale;
static int is_over;

/** Latencies in buckets whose width is at most 1/64 of their value, or 1 ns. */
#define SUB 128
static int64_t histogram[64 * SUB];
static int64_t slowest;

static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void record(int64_t ns) {
  if (ns < 0) ns = 0;
  if (ns > slowest) slowest = ns;
  int exponent = ns < SUB ? 0 : 63 - __builtin_clzll((uint64_t)ns) - 6;
  histogram[exponent * SUB + (ns >> exponent)]++;
}

/** Returns the upper end of the bucket with the given share of all latencies below it, in milliseconds. */
static double percentile(double share) {
  int64_t wanted = (int64_t)ceil((double)answered * share), seen = 0;
  for (int i = 0; i < 64 * SUB; i++) {
    seen += histogram[i];
    if (seen < wanted || histogram[i] == 0) continue;
    int exponent = i / SUB;
    int64_t end = ((int64_t)(i % SUB) + 1) << exponent;
    return (double)(end < slowest ? end : slowest) / 1e6;
  }
  return (double)slowest / 1e6;
}

static uint64_t next_random(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 2685821657736338717ULL;
}

static size_t choose(void) {
  if (target_count == 1) return 0;
  if (pick == 't') return turn++ % target_count;
  if (pick == 'e') return next_random() % target_count;
  double wanted = (double)(next_random() >> 11) / 9007199254740992.0 * cumulative[target_count - 1];
  size_t low = 0, high = target_count - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (cumulative[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

static Text read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail("can't read %s", path);
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  char *bytes = malloc((size_t)length + 1);
  if (fread(bytes, 1, (size_t)length, file) != (size_t)length) fail("can't read %s", path);
  bytes[length] = 0;
  fclose(file);
  return (Text){bytes, (size_t)length};
}

static void prepare_requests(const char *targets_path, const char *headers) {
  Text targets = read_file(targets_path);
  size_t capacity = 1;
  for (size_t i = 0; i < targets.length; i++) capacity += targets.bytes[i] == '\n';
  requests = calloc(capacity, sizeof(Text));
  for (char *line = strtok(targets.bytes, "\n"); line; line = strtok(NULL, "\n")) {
    char *bytes, *body = strchr(line, ' ');
    if (body) *body++ = 0;
    int length = body ? asprintf(&bytes, "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n%s",
                                 line, ntohs(address.sin_port), strlen(body), headers, body)
                      : asprintf(&bytes, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s%s\r\n", line, ntohs(address.sin_port), headers,
                                 nonces ? NONCE : "");
    requests[target_count++] = (Text){bytes, (size_t)length};
  }
  if (target_count == 0) fail("there are no targets in %s", targets_path);
  cumulative = malloc(target_count * sizeof(double));
  double sum = 0;
  for (size_t i = 0; i < target_count; i++) cumulative[i] = sum += 1.0 / (double)(i + 1);
}

static void open_connection(Connection *connection) {
  connection->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connection->fd < 0) fail("socket: %s", strerror(errno));
  if (connect(connection->fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect: %s", strerror(errno));
  int on = 1;
  setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, connection->fd, &event);
  connection->in_flight = connection->head = 0;
  connection->out_length = connection->out_sent = connection->in_length = connection->body_left = 0;
  connection->waits_for_write = 0;
}

static void wait_for_write(Connection *connection, int waits) {
  if (connection->waits_for_write == waits) return;
  connection->waits_for_write = waits;
  struct epoll_event event = {.events = EPOLLIN | (waits ? EPOLLOUT : 0), .data.ptr = connection};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, connection->fd, &event);
}

static void flush(Connection *connection) {
  while (connection->out_sent < connection->out_length) {
    ssize_t n = send(connection->fd, connection->out + connection->out_sent, connection->out_length - connection->out_sent,
                     MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) break; // the socket is full, or closed, which the next read shows
    connection->out_sent += (size_t)n;
  }
  int is_all = connection->out_sent == connection->out_length;
  if (is_all) connection->out_length = connection->out_sent = 0;
  wait_for_write(connection, !is_all);
}

static void add_request(Connection *connection, int64_t since) {
  Text request = requests[choose()];
  if (connection->out_length + request.length > connection->out_capacity) {
    connection->out_capacity = (connection->out_length + request.length) * 2;
    connection->out = realloc(connection->out, connection->out_capacity);
  }
  char *start = connection->out + connection->out_length;
  memcpy(start, request.bytes, request.length);
  connection->out_length += request.length;
  sent++;
  if (nonces) {
    int64_t number = sent; // the digits stand before the two CRLF at the end
    for (char *digit = start + request.length - 5; digit > start + request.length - 5 - NONCE_DIGITS; digit--) {
      *digit = (char)('0' + number % 10);
      number /= 10;
    }
  }
  connection->since[(connection->head + connection->in_flight++) % MAX_DEPTH] = since;
}

/** Sends as many requests as a connection may have in flight. */
static void send_batch(Connection *connection) {
  int64_t now = now_ns();
  for (int i = 0; i < depth && sent < most_requests; i++) add_request(connection, now);
  flush(connection);
}

/** Reads a header that is complete, and sets the length of its body. */
static void read_header(Connection *connection, char *header, char *end) {
  *end = 0;
  int status = header[0] == 'H' && end - header > 12 ? atoi(header + 9) : 0;
  if (status < 100 || status > 599) fail("not an answer: %.60s", header);
  statuses[status]++;
  connection->body_left = SIZE_MAX;
  for (char *line = strchr(header, '\n'); line; line = strchr(line, '\n')) {
    line++;
    if (*line != 'c' && *line != 'C' && *line != 'x' && *line != 'X') continue;
    if (strncasecmp(line, "content-length:", 15) == 0) connection->body_left = (size_t)atoll(line + 15);
    else if (strncasecmp(line, "x-cache: ", 9) == 0) {
      if (line[9] == 'H') cache_hits++;
      else if (line[9] == 'S') cache_stale++;
      else cache_misses++;
    }
  }
  if (status == 304 || status == 204) connection->body_left = 0;
  if (connection->body_left == SIZE_MAX) fail("an answer without content-length: %.60s", header);
}

static void on_answer(Connection *connection, int64_t now) {
  record(now - connection->since[connection->head]);
  connection->head = (connection->head + 1) % MAX_DEPTH;
  connection->in_flight--;
  answered++;
}

/** Handles what has arrived, and keeps a header that is not complete yet. */
static void parse(Connection *connection, int64_t now) {
  char *at = connection->in, *last = connection->in + connection->in_length;
  while (at < last) {
    size_t length = (size_t)(last - at);
    if (connection->body_left > 0) {
      size_t skipped = length < connection->body_left ? length : connection->body_left;
      connection->body_left -= skipped;
      at += skipped;
    } else {
      char *end = memmem(at, length, "\r\n\r\n", 4);
      if (!end && length == BUFFER) fail("a header is longer than %d bytes", BUFFER);
      if (!end) break;
      read_header(connection, at, end);
      at = end + 4;
    }
    if (connection->body_left == 0) on_answer(connection, now);
  }
  connection->in_length = (size_t)(last - at);
  if (at > connection->in) memmove(connection->in, at, connection->in_length);
}

static void reopen(Connection *connection) {
  if (connection->in_flight > 0) cut++;
  else refused_connections++;
  sent -= connection->in_flight;
  close(connection->fd);
  open_connection(connection);
}

static void on_readable(Connection *connection, int64_t rate) {
  ssize_t n = recv(connection->fd, connection->in + connection->in_length, BUFFER - connection->in_length, MSG_DONTWAIT);
  if (n < 0 && errno == EAGAIN) return;
  int was_busy = connection->in_flight > 0;
  if (n <= 0) reopen(connection);
  else {
    connection->in_length += (size_t)n;
    parse(connection, now_ns());
  }
  if (connection->in_flight > 0 || is_over) return;
  if (rate == 0) send_batch(connection);
  else if (was_busy) idle_stack[idle_count++] = (int)(connection - connections);
}

static int64_t in_flight(void) { return sent - answered; }

/** Waits for events, at most until a time. */
static void handle_events(int64_t until, int64_t rate) {
  struct epoll_event events[256];
  int64_t wait = until - now_ns();
  if (wait < 0) wait = 0;
  struct timespec timeout = {wait / 1000000000LL, wait % 1000000000LL};
  int count = epoll_pwait2(epoll_fd, events, 256, &timeout, NULL);
  for (int i = 0; i < count; i++) {
    Connection *connection = events[i].data.ptr;
    if (events[i].events & EPOLLOUT) flush(connection);
    if (events[i].events & ~(uint32_t)EPOLLOUT) on_readable(connection, rate);
  }
}

int main(int argc, char **argv) {
  const char *targets = NULL, *headers = "";
  double seconds = 0;
  int64_t rate = 0;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 1; i < argc; i++) {
    char *value = strchr(argv[i], '=');
    if (!value) fail("not name=value: %s", argv[i]);
    *value++ = 0;
    const char *name = argv[i];
    if (strcmp(name, "port") == 0) address.sin_port = htons((uint16_t)atoi(value));
    else if (strcmp(name, "targets") == 0) targets = value;
    else if (strcmp(name, "pick") == 0) pick = value[0];
    else if (strcmp(name, "connections") == 0) connection_count = atoi(value);
    else if (strcmp(name, "seconds") == 0) seconds = atof(value);
    else if (strcmp(name, "requests") == 0) most_requests = atoll(value);
    else if (strcmp(name, "rate") == 0) rate = atoll(value);
    else if (strcmp(name, "depth") == 0) depth = atoi(value);
    else if (strcmp(name, "headers") == 0) headers = read_file(value).bytes;
    else if (strcmp(name, "nonce") == 0) nonces = atoi(value);
    else if (strcmp(name, "seed") == 0) random_state ^= (uint64_t)atoll(value) * 0x9E3779B97F4A7C15ULL;
    else fail("unknown argument: %s", name);
  }
  if (!targets || address.sin_port == 0) fail("targets and port are needed");
  if (depth < 1 || depth > MAX_DEPTH) fail("depth must be between 1 and %d", MAX_DEPTH);
  if (seconds <= 0 && most_requests == INT64_MAX) fail("seconds or requests are needed");
  prepare_requests(targets, headers);

  epoll_fd = epoll_create1(0);
  connections = calloc((size_t)connection_count, sizeof(Connection));
  idle_stack = malloc((size_t)connection_count * sizeof(int));
  for (int i = 0; i < connection_count; i++) open_connection(&connections[i]);

  int64_t start = now_ns(), end = seconds > 0 ? start + (int64_t)(seconds * 1e9) : INT64_MAX;
  int64_t due_count = 0, now;
  if (rate == 0)
    for (int i = 0; i < connection_count; i++) send_batch(&connections[i]);
  else
    for (int i = connection_count - 1; i >= 0; i--) idle_stack[idle_count++] = i;
  while ((now = now_ns()) < end && (sent < most_requests || in_flight() > 0)) {
    int64_t next = now + 10000000;
    if (rate > 0) {
      int64_t due;
      // Requests that are due while all connections are busy stay due: their latency counts from then.
      while ((due = start + (int64_t)((double)due_count * 1e9 / (double)rate)) <= now && idle_count > 0 && sent < most_requests) {
        Connection *connection = &connections[idle_stack[--idle_count]];
        add_request(connection, due);
        flush(connection);
        due_count++;
      }
      if (idle_count > 0 && due < next) next = due;
    }
    handle_events(next < end ? next : end, rate);
  }
  double took = (double)(now_ns() - start) / 1e9;
  int64_t counted = answered;
  is_over = 1;
  int64_t overdue = rate > 0 && end != INT64_MAX ? (int64_t)((double)rate * seconds) - due_count : 0;
  for (int64_t last = now_ns() + GRACE_NS; in_flight() > 0 && now_ns() < last;) handle_events(now_ns() + 10000000, rate);

  printf("{\"requests\":%ld,\"seconds\":%.6f,\"unsent\":%ld,\"unanswered\":%ld,\"cut\":%ld,\"closed\":%ld,", counted, took,
         overdue > 0 ? overdue : 0, in_flight(), cut, refused_connections);
  printf("\"p50Ms\":%.4f,\"p90Ms\":%.4f,\"p99Ms\":%.4f,\"p999Ms\":%.4f,\"maxMs\":%.4f,", percentile(0.5), percentile(0.9),
         percentile(0.99), percentile(0.999), (double)slowest / 1e6);
  printf("\"hits\":%ld,\"misses\":%ld,\"stale\":%ld,\"statuses\":{", cache_hits, cache_misses, cache_stale);
  int is_first = 1;
  for (int i = 0; i < 600; i++) {
    if (statuses[i] == 0) continue;
    printf("%s\"%d\":%ld", is_first ? "" : ",", i, statuses[i]);
    is_first = 0;
  }
  printf("}}\n");
}

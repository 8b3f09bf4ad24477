/*
 * A model upstream that costs next to nothing: one thread, epoll, and answers that were built before the first request.
 *
 *   upstream PORT        0 = a free port; prints "listening PORT"
 *
 * The path says the dialect (/chat/completions, /messages), a marker in the body says the answer:
 *   bench-2k, bench-200k   a whole answer of that size
 *   bench-burst            a stream of BURST_EVENTS events, all at once
 *   bench-paced            a stream of PACED_EVENTS events, one every PACE_NS
 *   bench-idle             the head of a stream and its first event, then silence
 * Nothing else of a request is read.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BURST_EVENTS = 200, PACED_EVENTS = 100, MAX_FDS = 65536, READ_SIZE = 1 << 20, MAX_REQUEST_BYTES = 1 << 26 };
static const int64_t PACE_NS = 20 * 1000 * 1000;

/* Text that is being put together. */
struct text {
  char *bytes;
  size_t length, capacity;
};

static void add(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *piece;
  int length = vasprintf(&piece, format, arguments);
  va_end(arguments);
  if (length < 0) abort();
  if (text->length + (size_t)length > text->capacity) {
    text->capacity = (text->length + (size_t)length) * 2;
    text->bytes = realloc(text->bytes, text->capacity);
  }
  memcpy(text->bytes + text->length, piece, (size_t)length);
  text->length += (size_t)length;
  free(piece);
}

static void add_chunk(struct text *text, const struct text *data) {
  add(text, "%zx\r\n%.*s\r\n", data->length, (int)data->length, data->bytes);
}

/* What one marker answers: one part at once, or many in time. */
struct answer {
  struct text *parts;
  int count;
};

static const char STREAM_HEAD[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";

static const char *WORDS[] = {"signal", "points", "of", "the", "line", "are", "set", "before", "trains", "arrive"};

/* Prose without anything that JSON escapes. */
static struct text prose(size_t length) {
  struct text text = {0};
  for (int index = 0; text.length < length; index++) add(&text, "%s ", WORDS[(index * 7 + index / 10) % 10]);
  return text;
}

static struct text whole_answer(const char *before, const char *after, size_t size) {
  struct text words = prose(size - strlen(before) - strlen(after)), answer = {0};
  add(&answer, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
      strlen(before) + words.length + strlen(after));
  add(&answer, "%s%.*s%s", before, (int)words.length, words.bytes, after);
  return answer;
}

/* A dialect: the text around the words of a whole answer, and the events before, with and after those of a stream. */
struct dialect {
  const char *path;
  const char *whole_before, *whole_after;
  const char *opening[3];
  const char *delta;
  const char *closing[4];
};

#define CHAT_CHUNK "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1760000000,\"model\":\"bench\","

static const struct dialect DIALECTS[] = {
    {.path = "/chat/completions",
     .whole_before = "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion\",\"created\":1760000000,\"model\":\"bench\",\"choices\":[{"
                     "\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"",
     .whole_after = "\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":420,"
                    "\"completion_tokens\":300,\"total_tokens\":720,\"prompt_tokens_details\":{\"cached_tokens\":0}}}",
     .opening = {CHAT_CHUNK "\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n"},
     .delta = CHAT_CHUNK "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s \"},\"finish_reason\":null}]}\n\n",
     .closing = {CHAT_CHUNK "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
                 CHAT_CHUNK "\"choices\":[],\"usage\":{\"prompt_tokens\":420,\"completion_tokens\":300,\"total_tokens\":720}}\n\n",
                 "data: [DONE]\n\n"}},
    {.path = "/messages",
     .whole_before = "{\"id\":\"msg_bench\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"bench\",\"content\":[{\"type\":\"text\","
                     "\"text\":\"",
     .whole_after = "\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":420,\"output_tokens\":300}}",
     .opening = {"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_bench\",\"type\":\"message\","
                 "\"role\":\"assistant\",\"model\":\"bench\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,"
                 "\"usage\":{\"input_tokens\":420,\"output_tokens\":1}}}\n\n",
                 "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
                 "\"text\":\"\"}}\n\n"},
     .delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
              "\"text\":\"%s \"}}\n\n",
     .closing = {"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
                 "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\","
                 "\"stop_sequence\":null},\"usage\":{\"output_tokens\":300}}\n\n",
                 "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"}},
};
enum { DIALECT_COUNT = sizeof DIALECTS / sizeof *DIALECTS };

static void add_events(struct text *text, const char *const *events, int most) {
  for (int index = 0; index < most && events[index]; index++) {
    struct text event = {.bytes = (char *)events[index], .length = strlen(events[index])};
    add_chunk(text, &event);
  }
}

static void add_delta(struct text *text, const struct dialect *dialect, int index) {
  struct text event = {0};
  add(&event, dialect->delta, WORDS[(index * 7 + index / 10) % 10]);
  add_chunk(text, &event);
  free(event.bytes);
}

/* One part an event; the first brings the head, the last the end. */
static struct answer streamed(const struct dialect *dialect, int events) {
  struct answer answer = {.parts = calloc((size_t)events + 1, sizeof(struct text)), .count = events + 1};
  add(&answer.parts[0], "%s", STREAM_HEAD);
  add_events(&answer.parts[0], dialect->opening, 3);
  for (int index = 0; index < events; index++) add_delta(&answer.parts[index], dialect, index);
  add_events(&answer.parts[events], dialect->closing, 4);
  add(&answer.parts[events], "0\r\n\r\n");
  return answer;
}

static struct answer in_one_part(struct answer many, int count) {
  struct answer answer = {.parts = calloc(1, sizeof(struct text)), .count = 1};
  for (int index = 0; index < count; index++)
    add(&answer.parts[0], "%.*s", (int)many.parts[index].length, many.parts[index].bytes);
  return answer;
}

static struct answer whole(const struct dialect *dialect, size_t size) {
  struct answer answer = {.parts = calloc(1, sizeof(struct text)), .count = 1};
  answer.parts[0] = whole_answer(dialect->whole_before, dialect->whole_after, size);
  return answer;
}

static const char *MARKERS[] = {"bench-2k", "bench-200k", "bench-burst", "bench-paced", "bench-idle"};
enum { MARKER_COUNT = sizeof MARKERS / sizeof *MARKERS };
static struct answer ANSWERS[DIALECT_COUNT][MARKER_COUNT];

static void prepare_answers(void) {
  for (int index = 0; index < DIALECT_COUNT; index++) {
    const struct dialect *dialect = &DIALECTS[index];
    struct answer paced = streamed(dialect, PACED_EVENTS);
    ANSWERS[index][0] = whole(dialect, 2000);
    ANSWERS[index][1] = whole(dialect, 200000);
    ANSWERS[index][2] = in_one_part(streamed(dialect, BURST_EVENTS), BURST_EVENTS + 1);
    ANSWERS[index][3] = paced;
    ANSWERS[index][4] = in_one_part(paced, 1);
  }
}

struct connection {
  int fd;
  char *held; /* the beginning of a request whose rest has not come */
  size_t held_length;
  const char *out;
  size_t out_left;
  const struct answer *answer; /* while parts of it are due */
  int next_part;
  int64_t due;
  struct connection *earlier, *later; /* among those that wait for their next part */
};

static struct connection *connections[MAX_FDS];
static struct connection *first_due, *last_due;
static int poller;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Every wait is equally long, so the last to arrive is due last. */
static void wait_for_next_part(struct connection *connection) {
  connection->earlier = last_due;
  connection->later = NULL;
  if (last_due) last_due->later = connection;
  else first_due = connection;
  last_due = connection;
}

static void wait_no_more(struct connection *connection) {
  if (connection->earlier) connection->earlier->later = connection->later;
  else if (first_due == connection) first_due = connection->later;
  if (connection->later) connection->later->earlier = connection->earlier;
  else if (last_due == connection) last_due = connection->earlier;
  connection->earlier = connection->later = NULL;
}

static void close_connection(struct connection *connection) {
  wait_no_more(connection);
  connections[connection->fd] = NULL;
  close(connection->fd);
  free(connection->held);
  free(connection);
}

static void watch(struct connection *connection, uint32_t events) {
  struct epoll_event event = {.events = events, .data.fd = connection->fd};
  epoll_ctl(poller, EPOLL_CTL_MOD, connection->fd, &event);
}

/* false = the connection is gone */
static bool write_out(struct connection *connection) {
  while (connection->out_left > 0) {
    ssize_t written = write(connection->fd, connection->out, connection->out_left);
    if (written < 0) {
      if (errno != EAGAIN) return close_connection(connection), false;
      watch(connection, EPOLLIN | EPOLLOUT);
      return true;
    }
    connection->out += written;
    connection->out_left -= (size_t)written;
    if (connection->out_left == 0) watch(connection, EPOLLIN);
  }
  return true;
}

static bool send_part(struct connection *connection) {
  const struct text *part = &connection->answer->parts[connection->next_part++];
  bool more = connection->next_part < connection->answer->count;
  connection->out = part->bytes;
  connection->out_left = part->length;
  ssize_t written = write(connection->fd, part->bytes, part->length);
  if (written < 0 && errno != EAGAIN) return close_connection(connection), false;
  if (written > 0) connection->out += written, connection->out_left -= (size_t)written;
  if (connection->out_left > 0) watch(connection, EPOLLIN | EPOLLOUT);
  if (!more) return connection->answer = NULL, true;
  connection->due += PACE_NS;
  wait_for_next_part(connection);
  return true;
}

/* A reader that is still behind with one part gets the next one later. */
static void send_due_parts(void) {
  int64_t time = now();
  while (first_due && first_due->due <= time) {
    struct connection *connection = first_due;
    wait_no_more(connection);
    if (connection->out_left == 0) send_part(connection);
    else connection->due = time + PACE_NS, wait_for_next_part(connection);
  }
}

static const struct answer *answer_for(const char *head, size_t head_length, const char *body, size_t body_length) {
  const char *line_end = memchr(head, '\r', head_length);
  for (int dialect = 0; line_end && dialect < DIALECT_COUNT; dialect++) {
    const char *path = DIALECTS[dialect].path;
    if (!memmem(head, (size_t)(line_end - head), path, strlen(path))) continue;
    const char *marker = memmem(body, body_length, "\"bench-", 7);
    if (!marker) return NULL;
    size_t left = body_length - (size_t)(marker + 1 - body);
    for (int index = 0; index < MARKER_COUNT; index++) {
      size_t length = strlen(MARKERS[index]);
      if (left > length && !memcmp(marker + 1, MARKERS[index], length) && marker[1 + length] == '"')
        return &ANSWERS[dialect][index];
    }
  }
  return NULL;
}

static const char REFUSAL[] =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 73\r\nConnection: close\r\n\r\n"
    "{\"error\":{\"message\":\"no such path, or no marker and length in the body\"}}";

/* The bytes that one whole request takes, 0 while it is incomplete; -1 = refused, and the connection is closed. */
static ssize_t take_request(struct connection *connection, const char *bytes, size_t length) {
  const char *head_end = memmem(bytes, length, "\r\n\r\n", 4);
  if (!head_end) return 0;
  size_t head_length = (size_t)(head_end + 4 - bytes), body_length = 0;
  for (const char *line = bytes; line < head_end; line = (const char *)memchr(line, '\n', head_length) + 1)
    if (!strncasecmp(line, "content-length:", 15)) body_length = strtoul(line + 15, NULL, 10);
  if (length < head_length + body_length) return 0;
  connection->answer = answer_for(bytes, head_length, bytes + head_length, body_length);
  if (!connection->answer) {
    if (write(connection->fd, REFUSAL, sizeof REFUSAL - 1) < 0) perror("upstream: write");
    return close_connection(connection), -1;
  }
  connection->next_part = 0;
  connection->due = now();
  return send_part(connection) ? (ssize_t)(head_length + body_length) : -1;
}

static char input[READ_SIZE];

static void hold(struct connection *connection, const char *bytes, size_t length) {
  connection->held = realloc(connection->held, connection->held_length + length);
  memcpy(connection->held + connection->held_length, bytes, length);
  connection->held_length += length;
}

static void read_in(struct connection *connection) {
  ssize_t count = read(connection->fd, input, sizeof input);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0 || connection->held_length > MAX_REQUEST_BYTES) return close_connection(connection);
  bool whole = connection->held_length == 0;
  if (!whole) hold(connection, input, (size_t)count);
  ssize_t taken = take_request(connection, whole ? input : connection->held, whole ? (size_t)count : connection->held_length);
  if (taken < 0) return;
  if (taken == 0 && whole) hold(connection, input, (size_t)count);
  if (taken > 0) {
    /* The load does not pipeline: bytes after a request are a mistake of the benchmark. */
    free(connection->held);
    connection->held = NULL;
    connection->held_length = 0;
  }
}

static void take_connections(int listener) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    if (fd >= MAX_FDS) {
      close(fd);
      continue;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections[fd] = calloc(1, sizeof(struct connection));
    connections[fd]->fd = fd;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  }
}

static int listen_on(int port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 4096) < 0) {
    perror("upstream: listen");
    exit(1);
  }
  getsockname(listener, (struct sockaddr *)&address, &length);
  printf("listening %d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

static int until_next_part(void) {
  if (!first_due) return -1;
  int64_t left = first_due->due - now();
  return left <= 0 ? 0 : (int)((left + 999999) / 1000000);
}

int main(int count, char **words) {
  if (count != 2) return fprintf(stderr, "usage: upstream PORT\n"), 2;
  signal(SIGPIPE, SIG_IGN);
  prepare_answers();
  poller = epoll_create1(0);
  int listener = listen_on(atoi(words[1]));
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[512];
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int ready = epoll_wait(poller, events, 512, until_next_part());
    for (int index = 0; index < ready; index++) {
      int fd = events[index].data.fd;
      if (fd == listener) {
        take_connections(listener);
        continue;
      }
      struct connection *connection = connections[fd];
      if (connection && (events[index].events & EPOLLOUT) && !write_out(connection)) continue;
      if (connection && (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) read_in(connection);
    }
    send_due_parts();
  }
}

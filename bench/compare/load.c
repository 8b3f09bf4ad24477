/*
 * Loads a server over HTTP/1.1 and says how it went in one line of JSON.
 *
 *   load key=value...
 *     port, connections      where to, and over how many connections
 *     head, body             files: the head of the request ("{key}" and "{length}" are put in), and its body
 *     keys                   a file with a key a line, taken in turn
 *     first                  the key to begin with, counted from 0
 *     seconds                no request begins later; those under way are waited for
 *     rate                   absent: each connection sends as soon as it has its answer. Given: so many requests a second,
 *                            each timed from when it was due, over as many connections as that takes
 *     stagger                milliseconds over which the first requests begin
 *     event, end             what marks an event, and what must be in every answer
 *     events                 how many events every answer must have
 *     refusals=1             503 and 429 with Retry-After are counted and timed on their own, and so is what no connection was free for
 *     hold=1                 one stream a connection: says {"open":N} when each has its first event, and keeps them
 *                            until its input ends
 *
 * Any other status than 200, a missing end, a missing event and a broken connection are errors; the first is reported.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FDS = 65536, MAX_HEAD_BYTES = 16384, TAIL = 64, READ_SIZE = 1 << 18 };
static const int64_t SECOND = 1000000000, GRACE = 15 * 1000000000LL;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * SECOND + time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* Figures of which percentiles are wanted. */
struct figures {
  int64_t *values;
  size_t count, capacity;
};

static void note(struct figures *figures, int64_t value) {
  if (figures->count == figures->capacity) {
    figures->capacity = figures->capacity ? figures->capacity * 2 : 4096;
    figures->values = realloc(figures->values, figures->capacity * sizeof value);
  }
  figures->values[figures->count++] = value;
}

static int ascending(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return a < b ? -1 : a > b;
}

/* Microseconds. */
static double percentile(struct figures *figures, double share) {
  if (figures->count == 0) return 0;
  return (double)figures->values[(size_t)((double)(figures->count - 1) * share)] / 1000;
}

enum body_state { HEAD, PLAIN, CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER };

struct connection {
  int fd; /* -1 = not connected */
  bool busy, used; /* used = it has answered a request before */
  bool refused;
  int64_t began;
  enum body_state state;
  size_t left; /* of the body, or of the chunk */
  char *head;
  size_t head_length;
  char line[TAIL];
  size_t line_length;
  char tail[TAIL];
  size_t tail_length;
  long events;
  bool ended;
  const char *out;
  size_t out_left;
};

static struct {
  int port;
  int connections;
  double seconds, rate, stagger;
  const char *event, *end;
  long events;
  bool hold, refusals;
} plan = {.connections = 1, .seconds = 1, .event = "", .end = ""};

static char **heads;
static size_t *head_lengths, head_count, next_head;
static char *body;
static size_t body_length;
static struct connection *pool, *by_fd[MAX_FDS];
static int poller, timer;
static int64_t started, deadline;
static struct figures latencies, first_events, refusals;
static long requests, events, errors, unsent, in_flight, first_seen;
static char first_error[600];

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *text = calloc(1, *length + 1);
  if (fread(text, 1, *length, file) != *length) fail(path);
  fclose(file);
  return text;
}

static char *put_in(const char *text, const char *slot, const char *value) {
  const char *place = strstr(text, slot);
  char *filled;
  if (!place) return strdup(text);
  if (asprintf(&filled, "%.*s%s%s", (int)(place - text), text, value, place + strlen(slot)) < 0) abort();
  return filled;
}

static void prepare_heads(const char *head_file, const char *keys_file) {
  size_t length;
  char size[32], *template = read_file(head_file, &length);
  snprintf(size, sizeof size, "%zu", body_length);
  template = put_in(template, "{length}", size);
  char *keys = keys_file ? read_file(keys_file, &length) : strdup("none");
  for (char *key = strtok(keys, "\n"); key; key = strtok(NULL, "\n")) {
    heads = realloc(heads, (head_count + 1) * sizeof *heads);
    head_lengths = realloc(head_lengths, (head_count + 1) * sizeof *head_lengths);
    heads[head_count] = put_in(template, "{key}", key);
    head_lengths[head_count] = strlen(heads[head_count]);
    head_count++;
  }
}

static void watch(struct connection *connection, int operation, uint32_t which) {
  struct epoll_event event = {.events = which, .data.fd = connection->fd};
  epoll_ctl(poller, operation, connection->fd, &event);
}

static void disconnect(struct connection *connection) {
  if (connection->fd < 0) return;
  by_fd[connection->fd] = NULL;
  close(connection->fd);
  connection->fd = -1;
}

static void connect_to_server(struct connection *connection) {
  int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || fd >= MAX_FDS) fail("socket");
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)plan.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  connection->fd = fd;
  connection->used = false;
  by_fd[fd] = connection;
  watch(connection, EPOLL_CTL_ADD, EPOLLIN);
}

static void begin(struct connection *connection, int64_t at);

static void conclude(struct connection *connection) {
  connection->busy = false;
  in_flight--;
}

static void broken(struct connection *connection, const char *what, const char *detail, size_t length) {
  if (errors++ == 0) {
    snprintf(first_error, sizeof first_error, "%s: %.*s", what, (int)(length > 400 ? 400 : length), detail);
    for (char *place = first_error; *place; place++)
      if (*place == '"' || *place == '\\' || (unsigned char)*place < ' ') *place = ' ';
  }
  disconnect(connection);
  conclude(connection);
}

static void write_rest(struct connection *connection) {
  while (connection->out_left > 0) {
    ssize_t written = write(connection->fd, connection->out, connection->out_left);
    if (written < 0) return;
    connection->out += written;
    connection->out_left -= (size_t)written;
  }
  watch(connection, EPOLL_CTL_MOD, EPOLLIN);
}

static void send_request(struct connection *connection) {
  if (connection->fd < 0) connect_to_server(connection);
  connection->state = HEAD;
  connection->head_length = connection->line_length = connection->tail_length = 0;
  connection->events = 0;
  connection->ended = *plan.end == 0;
  size_t which = next_head++ % head_count;
  struct iovec parts[2] = {{heads[which], head_lengths[which]}, {body, body_length}};
  ssize_t written = writev(connection->fd, parts, 2);
  size_t total = head_lengths[which] + body_length;
  if (written < 0 || (size_t)written == total) return; /* a broken pipe is seen when reading */
  if ((size_t)written < head_lengths[which]) return broken(connection, "write", "the head did not go out in one piece", 36);
  connection->out = body + ((size_t)written - head_lengths[which]);
  connection->out_left = total - (size_t)written;
  watch(connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
}

static void begin(struct connection *connection, int64_t at) {
  connection->began = at;
  connection->busy = true;
  in_flight++;
  send_request(connection);
}

static void go_on(struct connection *connection, int64_t at) {
  connection->used = true;
  conclude(connection);
  if (!plan.rate && !plan.hold && at < deadline) begin(connection, at);
}

static void complete(struct connection *connection) {
  int64_t at = now();
  if (connection->refused) {
    note(&refusals, at - connection->began);
    return go_on(connection, at);
  }
  if (!connection->ended) return broken(connection, "an answer without its end", connection->tail, connection->tail_length);
  if (plan.events && connection->events != plan.events) {
    char counts[80];
    snprintf(counts, sizeof counts, "%ld events of %ld in an answer that ends with", connection->events, plan.events);
    return broken(connection, counts, connection->tail, connection->tail_length);
  }
  requests++;
  events += connection->events;
  note(&latencies, at - connection->began);
  go_on(connection, at);
}

static long count_in(const char *bytes, size_t length, const char *sign, size_t sign_length) {
  long count = 0;
  for (const char *place = bytes; (place = memmem(place, length - (size_t)(place - bytes), sign, sign_length)); place += sign_length)
    count++;
  return count;
}

/* Occurrences that end in these bytes, though they may have begun in those before. */
static long count_sign(const struct connection *connection, const char *bytes, size_t length, const char *sign) {
  size_t sign_length = strlen(sign);
  if (sign_length == 0) return 0;
  char seam[2 * TAIL];
  size_t before = connection->tail_length < sign_length ? connection->tail_length : sign_length - 1;
  size_t after = length < sign_length - 1 ? length : sign_length - 1;
  memcpy(seam, connection->tail + connection->tail_length - before, before);
  memcpy(seam + before, bytes, after);
  return count_in(seam, before + after, sign, sign_length) + count_in(bytes, length, sign, sign_length);
}

static void keep_tail(struct connection *connection, const char *bytes, size_t length) {
  if (length >= TAIL) {
    memcpy(connection->tail, bytes + length - TAIL, TAIL);
    connection->tail_length = TAIL;
    return;
  }
  size_t kept = connection->tail_length + length > TAIL ? TAIL - length : connection->tail_length;
  memmove(connection->tail, connection->tail + connection->tail_length - kept, kept);
  memcpy(connection->tail + kept, bytes, length);
  connection->tail_length = kept + length;
}

static void take_content(struct connection *connection, const char *bytes, size_t length) {
  long seen = count_sign(connection, bytes, length, plan.event);
  if (seen > 0 && connection->events == 0) {
    note(&first_events, now() - connection->began);
    first_seen++;
  }
  connection->events += seen;
  if (!connection->ended) connection->ended = count_sign(connection, bytes, length, plan.end) > 0;
  keep_tail(connection, bytes, length);
}

static bool is_refusal(const char *head) {
  if (!plan.refusals || !strcasestr(head, "\r\nretry-after:")) return false;
  return !strncmp(head, "HTTP/1.1 503", 12) || !strncmp(head, "HTTP/1.1 429", 12);
}

/* How many bytes belonged to the head; sets the state that comes after it. */
static size_t take_head(struct connection *connection, const char *bytes, size_t length) {
  if (!connection->head) connection->head = malloc(MAX_HEAD_BYTES + 1);
  size_t before = connection->head_length, room = MAX_HEAD_BYTES - before, taken = length < room ? length : room;
  memcpy(connection->head + before, bytes, taken);
  connection->head_length += taken;
  connection->head[connection->head_length] = 0;
  char *end = strstr(connection->head, "\r\n\r\n");
  if (!end) {
    if (connection->head_length == MAX_HEAD_BYTES) broken(connection, "head", "longer than 16 KB", 17);
    return taken;
  }
  size_t head_size = (size_t)(end + 4 - connection->head);
  connection->refused = is_refusal(connection->head);
  if (!connection->refused && strncmp(connection->head, "HTTP/1.1 200", 12)) {
    broken(connection, "status", connection->head, connection->head_length);
    return taken;
  }
  end[2] = 0;
  char *size = strcasestr(connection->head, "\r\ncontent-length:");
  if (size) {
    connection->left = strtoul(size + 17, NULL, 10);
    connection->state = PLAIN;
  } else if (strcasestr(connection->head, "\r\ntransfer-encoding: chunked")) {
    connection->state = CHUNK_SIZE;
  } else {
    broken(connection, "head", "neither a length nor chunks", 27);
    return taken;
  }
  return head_size - before;
}

/* A line of the chunked coding; true when it is whole. */
static bool take_line(struct connection *connection, char byte) {
  if (byte == '\n') {
    connection->line[connection->line_length] = 0;
    connection->line_length = 0;
    return true;
  }
  if (byte != '\r' && connection->line_length < TAIL - 1) connection->line[connection->line_length++] = byte;
  return false;
}

static void take_bytes(struct connection *connection, const char *bytes, size_t length) {
  while (length > 0 && connection->busy) {
    size_t taken = 1;
    switch (connection->state) {
      case HEAD:
        taken = take_head(connection, bytes, length);
        break;
      case PLAIN:
      case CHUNK_DATA:
        taken = length < connection->left ? length : connection->left;
        take_content(connection, bytes, taken);
        connection->left -= taken;
        if (connection->left > 0) break;
        if (connection->state == CHUNK_DATA) connection->state = CHUNK_END;
        else complete(connection);
        break;
      case CHUNK_SIZE:
        if (!take_line(connection, *bytes)) break;
        connection->left = strtoul(connection->line, NULL, 16);
        connection->state = connection->left > 0 ? CHUNK_DATA : TRAILER;
        break;
      case CHUNK_END:
        if (take_line(connection, *bytes)) connection->state = CHUNK_SIZE;
        break;
      case TRAILER:
        if (take_line(connection, *bytes) && connection->line[0] == 0) complete(connection);
        break;
    }
    bytes += taken;
    length -= taken;
  }
}

static char input[READ_SIZE];

/* A server may close a connection that was idle; a request that met with that is sent again. */
static void closed_by_server(struct connection *connection) {
  bool unlucky = connection->busy && connection->used && connection->state == HEAD && connection->head_length == 0;
  if (!connection->busy || unlucky) {
    disconnect(connection);
    if (unlucky) send_request(connection);
  } else {
    broken(connection, "the server closed the connection before the end of its answer", connection->tail, connection->tail_length);
  }
}

static void read_in(struct connection *connection) {
  ssize_t count = read(connection->fd, input, sizeof input);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) return closed_by_server(connection);
  take_bytes(connection, input, (size_t)count);
}

static struct connection *idle_connection(void) {
  for (int index = 0; index < plan.connections; index++)
    if (!pool[index].busy) return &pool[index];
  return NULL;
}

static long begun;

static int64_t next_begin(void) {
  if (plan.rate) return started + (int64_t)((double)begun / plan.rate * (double)SECOND);
  if (begun >= plan.connections) return INT64_MAX;
  return started + (int64_t)(plan.stagger * 1e6 * (double)begun / plan.connections);
}

static void begin_due(void) {
  for (int64_t due; (due = next_begin()) <= now() && (due < deadline || plan.hold);) {
    struct connection *connection = plan.rate ? idle_connection() : &pool[begun];
    begun++;
    if (connection) {
      begin(connection, plan.rate ? due : now());
    } else if (plan.refusals) {
      unsent++;
    } else if (errors++ == 0) {
      snprintf(first_error, sizeof first_error, "more than %d requests under way at once", plan.connections);
    }
  }
}

static void set_timer(int64_t at) {
  struct itimerspec spec = {.it_value = {at / SECOND, at % SECOND}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void turn(void) {
  static struct epoll_event ready[512];
  int64_t next = next_begin();
  set_timer(next < deadline || (plan.hold && next < INT64_MAX) ? next : now() + SECOND / 4);
  int count = epoll_wait(poller, ready, 512, 1000);
  for (int index = 0; index < count; index++) {
    int fd = ready[index].data.fd;
    if (fd == timer) {
      uint64_t times;
      if (read(timer, &times, sizeof times) < 0) continue;
    } else if (by_fd[fd]) {
      if (ready[index].events & EPOLLOUT) write_rest(by_fd[fd]);
      if (by_fd[fd] && (ready[index].events & ~(uint32_t)EPOLLOUT)) read_in(by_fd[fd]);
    }
  }
  begin_due();
}

static bool input_ended(void) {
  char byte;
  ssize_t count = read(0, &byte, 1);
  return count == 0 || (count < 0 && errno != EAGAIN);
}

static void hold_streams(void) {
  while (first_seen + errors < plan.connections && now() < deadline + GRACE) turn();
  printf("{\"open\":%ld,\"errors\":%ld,\"firstError\":\"%s\"}\n", first_seen, errors, first_error);
  fflush(stdout);
  fcntl(0, F_SETFL, O_NONBLOCK);
  while (!input_ended()) turn();
}

static void tell(void) {
  double seconds = (double)(now() - started) / (double)SECOND;
  if (!plan.hold && in_flight > 0) {
    errors += in_flight;
    snprintf(first_error, sizeof first_error, "%ld requests without an answer", in_flight);
  }
  qsort(latencies.values, latencies.count, sizeof(int64_t), ascending);
  qsort(first_events.values, first_events.count, sizeof(int64_t), ascending);
  qsort(refusals.values, refusals.count, sizeof(int64_t), ascending);
  printf("{\"requests\":%ld,\"events\":%ld,\"errors\":%ld,\"firstError\":\"%s\",\"seconds\":%.3f,", requests, events, errors,
         first_error, seconds);
  printf("\"p50\":%.1f,\"p99\":%.1f,\"firstP50\":%.1f,\"firstP99\":%.1f,", percentile(&latencies, 0.5),
         percentile(&latencies, 0.99), percentile(&first_events, 0.5), percentile(&first_events, 0.99));
  printf("\"refusals\":%zu,\"refusalP99\":%.1f,\"unsent\":%ld}\n", refusals.count, percentile(&refusals, 0.99), unsent);
}

int main(int count, char **words) {
  const char *head_file = NULL, *body_file = NULL, *keys_file = NULL;
  for (int index = 1; index < count; index++) {
    char *value = strchr(words[index], '=');
    if (!value) return fprintf(stderr, "load: key=value expected, not %s\n", words[index]), 2;
    *value++ = 0;
    const char *name = words[index];
    if (!strcmp(name, "port")) plan.port = atoi(value);
    else if (!strcmp(name, "connections")) plan.connections = atoi(value);
    else if (!strcmp(name, "seconds")) plan.seconds = atof(value);
    else if (!strcmp(name, "rate")) plan.rate = atof(value);
    else if (!strcmp(name, "stagger")) plan.stagger = atof(value);
    else if (!strcmp(name, "event")) plan.event = value;
    else if (!strcmp(name, "end")) plan.end = value;
    else if (!strcmp(name, "events")) plan.events = atol(value);
    else if (!strcmp(name, "hold")) plan.hold = atoi(value) == 1;
    else if (!strcmp(name, "first")) next_head = strtoul(value, NULL, 10);
    else if (!strcmp(name, "refusals")) plan.refusals = atoi(value) == 1;
    else if (!strcmp(name, "head")) head_file = value;
    else if (!strcmp(name, "body")) body_file = value;
    else if (!strcmp(name, "keys")) keys_file = value;
    else return fprintf(stderr, "load: unknown word %s\n", name), 2;
  }
  if (!head_file || !body_file || !plan.port) return fprintf(stderr, "load: port, head and body are needed\n"), 2;
  if (strlen(plan.event) >= TAIL || strlen(plan.end) >= TAIL) return fprintf(stderr, "load: a sign is too long\n"), 2;
  signal(SIGPIPE, SIG_IGN);
  body = read_file(body_file, &body_length);
  prepare_heads(head_file, keys_file);
  poller = epoll_create1(0);
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = timer};
  epoll_ctl(poller, EPOLL_CTL_ADD, timer, &event);
  pool = calloc((size_t)plan.connections, sizeof *pool);
  for (int index = 0; index < plan.connections; index++) pool[index].fd = -1;
  started = now();
  deadline = started + (int64_t)(plan.seconds * (double)SECOND);
  begin_due();
  if (plan.hold) {
    hold_streams();
  } else {
    while (now() < deadline) turn();
    while (in_flight > 0 && now() < deadline + GRACE) turn();
  }
  tell();
  return 0;
}

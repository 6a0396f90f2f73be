/**
 * States in which faults meet, by the part of the simulation that detects them. Each sentence says how. A run of many
 * seeds must reach every one of them: a simulation that never does is too tame to find what goes wrong there.
 */

const DISK = {
  'a short write': 'One call wrote fewer bytes than it was given, and the next call wrote more of them.',
  'a disk full in the middle of a document': 'A draft got some of its bytes, and its next write failed with ENOSPC.',
  'a sync that failed': 'The fsync of a draft failed with EIO.',
  'a rename that failed': 'The rename of a whole draft failed.',
  'a failed write made good': 'The write of a document failed, and a later one replaced the document.',
  'killed in the middle of a write': 'A process died when a draft had some of its bytes.',
  'killed between write and rename': 'A process died when a draft was whole and synced, and not yet renamed.',
  'killed between rename and sync of the directory':
    'A process died after a rename, before the fsync of the directory.',
  'power lost with unsynced bytes': 'A loss of power took bytes of a draft that were not synced.',
  'power lost with an unsynced rename': 'A loss of power took back a rename that was not synced.',
  'power lost between two renames': 'A loss of power took back one unsynced rename and kept a later one.',
  'a draft left behind': 'A process that started found the draft of a dead one.',
} as const;

const REDIS = {
  'a lease lost in the middle of a write':
    'A write left the process under a valid lease, and the server refused it because the lease had changed.',
  'a write under way at the end of its lease': 'A write reached the server after its lease had expired.',
  'a write whose answer was lost': 'A write took effect, and the connection was lost before its answer arrived.',
  'a failover while a write is under way': 'The server changed to another copy between a write and its answer.',
  'a failover to older documents': 'The copy that took over had an older revision than the leader had been told.',
  'a failover that lost the lease': 'The copy that took over had no lease, and its holder was alive.',
  'lost writes made good': 'After a failover to older documents the same leader wrote them again.',
  'a script unknown after a failover': 'The copy that took over answered NOSCRIPT.',
  'a lease taken again by its last holder': 'A lease expired, and the process that had held it took it.',
  'a lease taken after the grace': 'A lease expired, and another process took it when it had been free for the grace.',
  'a lease given back': 'A process that stopped gave its lease back, and another one took it.',
  'two processes after one lease': 'Two processes asked for a free lease within one heartbeat.',
  'a leader cut off': 'The leader could not reach the server for longer than its lease, and another process could.',
  'redis away for everyone': 'No process could reach the server for longer than a lease.',
} as const;

const SERVICE = {
  'a slashing first seen at finality':
    'The details of a block with a slashing were asked for the first time when its epoch was final.',
  'a slashing in two blocks': 'The details of two blocks with the same slashing were answered.',
  'a slashing taken back': 'The details of a canonical block were answered, and a reorganisation removed the block.',
  'a slashing not listed yet': 'The row of a block announced more slashings than the details that were answered.',
  'both chains reorganised during an outage':
    'Both chains had a reorganisation while no request was answered for ten minutes.',
  'finality late for more than an hour': 'The finalized epoch did not change for an hour, and its chain went on.',
  'a scheduled slot in a finalized epoch': 'An answer about a finalized epoch had a row with status 0.',
  'a finalized epoch ahead of the latest': 'The finalized view was answered with a later epoch than latest before it.',
  'a latest epoch taken back': 'Latest was answered with an earlier epoch than before.',
  'two rows of one slot that both say proposed': 'An answer had a canonical and an orphaned row with status 1.',
  'a renewal while closed': 'The month of the account renewed during the wait after a 429.',
  'a quota exhausted in the middle of a sweep':
    'A page with a cursor was answered, and the next one was over the month.',
  'the last request of a quota taken by others': 'Another consumer used the request that left 0.',
  'a limit lowered in the middle of a sweep': 'The limit of the second went down between two pages of one sequence.',
  'a wait named only by retry-after': 'A 429 had retry-after, and no ratelimit-reset.',
  'two refusals in a row that name no wait': 'Two 429s in a row had no header of a wait.',
  'revoked in the middle of a sweep': 'A page with a cursor was answered, and the next request found access revoked.',
  'a refused key accepted again': 'A key was answered with 401, and later with 200.',
  'a request counted without an answer': 'A request was charged, and its connection was lost before the answer.',
  'an answer after the time limit': 'An answer was ready after the client had given up the request.',
  'a bad record among good ones': 'A process read values of machines, and records that it could not read.',
  'an empty page with a cursor': 'A page without any record had a cursor.',
  'a body cut off': 'The body of a 200 ended in the middle.',
  'an earlier day after a later one': 'Daily returns were answered with an earlier day than before.',
  'a sync committee that is not known after its end':
    'The old period was answered more than five minutes after its end.',
  'a record that came late': 'A record of a machine appeared more than two minutes after its time.',
  'a machine back after its silence': 'A machine pushed again after it had been silent for longer than stale_after.',
} as const;

const PROCESS = {
  'killed between request counted and ledger written':
    'The service charged a request, and the process died before it had the answer.',
  'killed during a start': 'A process died before its first answer to a scrape.',
  'stopped in the middle of a poll': 'A process was told to stop while one of its requests had no answer.',
  'a restart within a second of a request':
    'A process started less than a second after the last request of the one before.',
  'a restart while closed': 'A process started during the wait after a 429.',
  'a restart while revoked': 'A process started when access was revoked.',
  'a stop for longer than catch_up': 'A process started when more epochs had become final than catch_up covers.',
  'a poll in progress when a reload removes its source':
    'A reload switched a source off while one of its requests had no answer.',
  'a source back after a reload': 'A reload switched a source on that an earlier reload had switched off.',
  'a reload during a reload': 'A reload was asked for before the one before had ended.',
  'a reload in the middle of a sweep': 'A reload ended between two pages of one sequence, which then went on.',
  'key changed while revoked': 'A reload brought another key when access was revoked.',
  'clock stepped back across a wait': 'During a wait after a 429 the clock was set to a time before the 429.',
  'clock stepped forward across a wait': 'During a wait after a 429 the clock was set to a time after its end.',
  'clock stepped into another month': 'The clock of a process was set across the end of a UTC month.',
  'a leader paused for longer than its lease': 'The leader was suspended for longer than its lease.',
  'a leader back before its lease ended': 'The leader was killed, and started again before its lease expired.',
} as const;

const EXPOSITION = {
  'values withdrawn during an outage':
    'The values of a machine went from /metrics while polls failed, and its last_seen stayed.',
  'a stretched interval': 'The interval told of a source was longer than the configured one.',
  'a wait for the quota': 'quota_wait_end_timestamp_seconds was above 0.',
  'no head passes': 'The interval told of slashings was more than an epoch.',
  'a scrape while the state cannot be written':
    'state_write_failures_total went up from one scrape to the next, and no counter of a source did.',
  'a follower behind its leader': 'Two scrapes at the same moment had different values of one counter.',
  'a scrape of both roles of one process': 'A replica was scraped as a follower, and later as the leader.',
  'a name with a quote or a line break': 'A scrape had the values of a machine whose name must be escaped.',
} as const;

/** What each part has to detect. */
export const STATES_BY_PART = {
  disk: DISK,
  redis: REDIS,
  service: SERVICE,
  process: PROCESS,
  exposition: EXPOSITION,
} as const;

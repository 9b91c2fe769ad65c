import pg from 'pg'
import { z } from 'zod'
import { TABLES } from '../../src/server/store/engine.js'

/** One change of a row or of a lease, noted in its own transaction. */
export interface AuditEvent {
  /** In the order in which the statements ran. */
  readonly seq: number
  /** Unix milliseconds, by the clock of this machine. */
  readonly at: number
  /** The process whose connection it came by. */
  readonly server: string
  readonly kind: 'insert' | 'update' | 'delete'
  readonly table: string
  readonly id: string
  /** Whether the row is open. */
  readonly isOpen: boolean
  /** A row's document, or a lease's term. */
  readonly doc: string
}

export interface Audit {
  readonly events: readonly AuditEvent[]
  /** Writes that were not committed when a lease was taken, though their statements ran before: `[take, write]`. */
  readonly unseen: readonly (readonly [number, number])[]
}

/** All that several databases had noted, of which each began as a copy of the one before. In the order of time. */
export function allEvents(audits: readonly Audit[]): AuditEvent[] {
  const byNote = new Map<string, AuditEvent>()
  for (const event of audits.flatMap(({ events }) => events)) byNote.set(`${event.seq} ${event.at}`, event)
  return [...byNote.values()].toSorted((a, b) => a.at - b.at || a.seq - b.seq)
}

/** The trigger of a lease has a snapshot of its own, taken once the lease's row is locked. */
const INSTALL = `
CREATE TABLE audit (
  seq bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(), snapshot pg_snapshot,
  server text NOT NULL DEFAULT current_setting('application_name'),
  kind text NOT NULL, tbl text NOT NULL, id text NOT NULL, is_open boolean NOT NULL, doc text NOT NULL
);
CREATE FUNCTION audit_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed record;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  INSERT INTO audit (kind, tbl, id, is_open, doc)
  VALUES (lower(TG_OP), TG_TABLE_NAME, changed.id, changed.is_open, changed.doc);
  RETURN NULL;
END $$;
CREATE FUNCTION audit_lease() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO audit (kind, tbl, id, is_open, doc) VALUES ('delete', 'leases', OLD.name, false, OLD.term);
  ELSIF TG_OP = 'INSERT' OR NEW.term <> OLD.term THEN
    INSERT INTO audit (kind, tbl, id, is_open, doc, snapshot)
    VALUES (lower(TG_OP), 'leases', NEW.name, true, NEW.term, pg_current_snapshot());
  END IF;
  RETURN NULL;
END $$;
${TABLES.map(
  (table) =>
    `CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION audit_row();`,
).join('\n')}
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON leases FOR EACH ROW EXECUTE FUNCTION audit_lease();`

const EVENTS = `
SELECT seq::int, extract(epoch FROM at)::float8 * 1000 AS at, server, kind, tbl, id, is_open, doc FROM audit ORDER BY seq`
const UNSEEN = `
SELECT take.seq::int AS take, written.seq::int AS write FROM audit AS take JOIN audit AS written
ON written.seq < take.seq AND written.tbl <> 'leases' AND NOT pg_visible_in_snapshot(written.xid, take.snapshot)
WHERE take.tbl = 'leases' AND take.snapshot IS NOT NULL`
const HOLDER = `
SELECT server FROM audit WHERE tbl = 'leases' AND id LIKE $1 AND kind <> 'delete' ORDER BY seq DESC LIMIT 1`

const eventSchema = z
  .object({
    seq: z.int(),
    at: z.number(),
    server: z.string(),
    kind: z.enum(['insert', 'update', 'delete']),
    tbl: z.string(),
    id: z.string(),
    is_open: z.boolean(),
    doc: z.string(),
  })
  .transform(({ tbl, is_open, ...event }): AuditEvent => ({ ...event, table: tbl, isOpen: is_open }))
const pairSchema = z.object({ take: z.int(), write: z.int() })

/** Runs one statement on a connection of its own, also where the database takes no writes by default. */
export async function ask(url: string, text: string, values: readonly unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c default_transaction_read_only=off',
    // On a machine that others use, a connection to a database that works took more than five seconds.
    connectionTimeoutMillis: 30_000,
  })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, [...values])
    return rows
  } finally {
    await client.end()
  }
}

/** Notes every change from now on. The tables are there already. */
export async function installAudit(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(INSTALL)
  await client.end()
}

/** For when no statement is under way. */
export async function readAudit(url: string): Promise<Audit> {
  const [events, unseen] = await Promise.all([ask(url, EVENTS), ask(url, UNSEEN)])
  return {
    events: eventSchema.array().parse(events),
    unseen: pairSchema
      .array()
      .parse(unseen)
      .map(({ take, write }) => [take, write] as const),
  }
}

/** The process that has taken the lease last. @param lease how its name begins */
export async function lastHolder(url: string, lease: string): Promise<string | undefined> {
  const rows = z.array(z.object({ server: z.string() })).parse(await ask(url, HOLDER, [`${lease}%`]))
  return rows[0]?.server
}

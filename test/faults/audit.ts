import pg from 'pg'
import * as z from 'zod'
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

const INSTALL = `
CREATE TABLE audit (
  seq bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
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
    INSERT INTO audit (kind, tbl, id, is_open, doc)
    VALUES (lower(TG_OP), 'leases', NEW.name, true, NEW.term);
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
  await ask(url, INSTALL)
}

/** For when no statement is under way. */
export async function readAudit(url: string): Promise<AuditEvent[]> {
  return eventSchema.array().parse(await ask(url, EVENTS))
}

/** The process that has taken the lease last. @param lease how its name begins */
export async function lastHolder(url: string, lease: string): Promise<string | undefined> {
  const rows = z.array(z.object({ server: z.string() })).parse(await ask(url, HOLDER, [`${lease}%`]))
  return rows[0]?.server
}

import type { ProblemCode } from '../../src/server/http/problemCodes.js'

/** What the page at /errors and docs/errors.md add to each code: its meaning, and its typical cause. Backticks enclose code. */
export const EXPLANATIONS: Readonly<
  Record<ProblemCode, { readonly meaning: string; readonly cause: string }>
> = {
  'malformed-request': {
    meaning:
      'The bytes on the connection are not an HTTP request, or the connection broke off inside a body. Or its `Host` is missing, repeated or no host.',
    cause: 'Another protocol on this port (TLS on the plain one, for instance), or a caller that hung up.',
  },
  'malformed-json': {
    meaning:
      'The body is not a JSON value that is safe to read. It is empty, not UTF-8, not JSON, or nested deeper than 32. Or an object in it repeats a member name, or has a member `__proto__`, `constructor` or `prototype`.',
    cause: 'A body that was cut off, or built from strings.',
  },
  'invalid-body': {
    meaning:
      'The body is JSON, but not in the shape that the route takes. `errors` lists where (`path`, dotted) and what (`message`), at most twenty entries. An unknown member is an error.',
    cause:
      'A misspelled member, hex of a wrong length, a number for a decimal string, a wrong EIP-55 checksum.',
  },
  'invalid-parameter': {
    meaning: 'A part of the path has the wrong type, or its percent-encoding is broken. `errors` names it.',
    cause:
      'An `orderId`, `orgId` or digest that is not 32 bytes of hex; an address with a wrong EIP-55 checksum.',
  },
  'invalid-envelope': {
    meaning: 'The four fields are there, but no envelope can be made of them. `errors` names the wrong ones.',
    cause:
      'An `epk` off the curve secp256k1; an `iv` not of 12 bytes, a `tag` not of 16; a `ct` empty or too long.',
  },
  'relay-unauthorized': {
    meaning: 'A relay route was called without the shared token, or with another one. The body was not read.',
    cause: "The enclave's token differs from the server's `RELAY_AUTH_TOKEN`.",
  },
  'run-unauthorized': {
    meaning:
      "The request has no fresh signature of this run's message by the shared secret. Its body was not parsed, and it is answered the same whether or not there is such a run.",
    cause:
      "`ENCLAVE_TRIGGER_SECRET` differs between server and enclave. A clock is off by minutes, or the enclave's is behind the server's by more than five seconds. A proxy changes the body.",
  },
  'origin-not-allowed': {
    meaning: 'The request has an `Origin` other than the configured one. No handler ran.',
    cause:
      'A page of another origin (scheme, host, port, or `null`), or `FRONTEND_ORIGIN` set to another one.',
  },
  'not-order-account': {
    meaning:
      'The signature outside the seal is not by the account that opened the escrow. Nothing was stored.',
    cause: 'Another wallet, chain or escrow; a body that was changed after it was signed.',
  },
  'not-found': {
    meaning: 'There is no route at this path.',
    cause: 'A misspelled path; paths are case-sensitive.',
  },
  'order-not-found': {
    meaning: 'Neither the chain nor the cache knows this order.',
    cause: 'A wrong `orderId`; an escrow whose transaction is not mined and whose envelope was not posted.',
  },
  'institution-not-found': {
    meaning: 'No institution is registered under this `orgId`.',
    cause: 'A wrong `orgId` (it is the name as ASCII, zero-padded to 32 bytes), or another chain.',
  },
  'receipt-not-found': {
    meaning: 'No receipt is kept under this digest, or the chain contradicts the one that is.',
    cause:
      "The authorization was never relayed, or the cache was emptied or the chain reset since; the contract's `usedDigest` shows which.",
  },
  'method-not-allowed': {
    meaning: 'The path exists, but not for this method. The `Allow` header lists those it has.',
    cause: 'GET and POST mixed up.',
  },
  'order-ended': {
    meaning:
      'The order is settled or refunded on the chain, and no cancel of it was stored before. A cancel that was stored gets 202 when posted again.',
    cause: 'The order was filled, refused or reclaimed before the cancel came.',
  },
  'opening-under-way': {
    meaning:
      'The server sends one opening at a time for an `orderId` (its first 16 bytes). Another one that was signed for it is on its way. Nothing was stored.',
    cause: 'A client that signed a second opening before the first was used or had expired.',
  },
  'order-under-way': {
    meaning: 'An enclave that stays up runs one job of an order at a time. Nothing was started.',
    cause: 'A server that has lost its `DATA_DIR`, or two servers, with a run of the order still going on.',
  },
  'request-timeout': {
    meaning:
      'The headers did not arrive within a third of `REQUEST_TIMEOUT`, or the body within ten seconds of them or within `REQUEST_TIMEOUT`. Under load, a request whose body is incomplete ends earlier, so that others have room.',
    cause: 'A stalled connection, or a client that declares more body than it sends.',
  },
  'body-too-large': {
    meaning:
      'The body is longer than 64 KiB; at `/relay`, than 192 KiB; at `/policy`, where `Rulebook-Author` has an admin’s signature, than 1 MiB.',
    cause:
      'Not a sealed envelope: an order has at most 4,096 bytes of ciphertext; a rulebook 525,375, and from some 32,000 on it needs the header.',
  },
  'unsupported-media-type': {
    meaning: 'The body is not declared as JSON in UTF-8, or it is compressed.',
    cause: 'A missing `Content-Type`, a form or text POST, a `Content-Encoding`.',
  },
  'run-too-late': {
    meaning: "The job's `stopAt` is past by the enclave's clock. Nothing was started.",
    cause: 'A job that was on its way for long; clocks that differ.',
  },
  'policy-rejected': {
    meaning:
      'The enclave opened the rulebook and refused it, or the server refused the signature outside the seal (`author`) before any run. `reason` is the code.',
    cause:
      "A signature that is not the admin's, or is for another chain or escrow; a version that is not the on-chain one plus one. Also an unlisted symbol, or a repeated member, such as an employee listed twice (`invalid-rulebook`).",
  },
  'resolution-rejected': {
    meaning:
      "The enclave refused what the platform's owner decided, or the server refused the signature outside the seal (`sig`) before any run. `reason` is the code.",
    cause:
      "A signature that is not the owner's (`not-owner`), has expired (`expired`), or is valid for more than a day (`expiry-too-far`). An entry or a portfolio that has changed since, also by this very resolution (`entry-changed`, `portfolio-changed`); an order that its runs can end (`order-not-stuck`), or that may still fill at the broker, even if someone else placed it (`order-live`). Figures that cannot be (`invalid-figures`), are far from the market (`figures-off-market`), or are for a symbol without a price (`no-price`).",
  },
  'invalid-signature': {
    meaning: "The signature is not the enclave signer's over this message. No gas was spent.",
    cause: "Another signing key, chain id or contract address on the enclave's side; a changed message.",
  },
  'opening-not-sponsored': {
    meaning:
      'The account is a member of no institution that the platform admits, so the platform does not pay for its openings. Nothing was stored.',
    cause: 'A wallet that has left its institution or was removed, or whose institution is suspended.',
  },
  'invalid-opening': {
    meaning:
      "The signature in `opening` is not the account's over this order, with the `commit` of this envelope, for this chain, escrow and USDC. Nothing was stored or sent.",
    cause:
      "Another envelope than the signed one; another `amount`, `deadline` or `validBefore`; a domain that is not USDC's `name()` and `version()`; a contract wallet.",
  },
  'would-revert': {
    meaning:
      "The contract would refuse the transaction now. `revert` has the name and arguments of its error; `unknown` where the node does not name it. One name is the server's own: `GasLimitExceeded`, when the call needs more gas (`needed`) than 2^24, the most of a transaction (EIP-7825), or a block leaves it (`limit`). No gas was spent. A receipt of status `failed` has another one in its `error`: `RefusedByNodes`, when every node that answers refuses the transaction; nothing reverted then.",
    cause:
      "Another authorization was first: `VersionConflict`, an order no longer open, another supply or batch number. An opening: `NotCleared`, `NotAdmitted`, `Leaving`, `OrderIdTaken`, `OpeningExpired`, too little USDC (USDC's own error).",
  },
  'rate-limited': {
    meaning:
      'The requests of this client, or of its site (an IPv6 /48, which has four times as much), have cost more in a minute than `RATE_LIMIT_PER_MINUTE`: a read 1, a post 30, and nothing a read answered with 304. Or reads of the client have caused more than 3,600 calls of the nodes in a minute, and 50 for each member who has ordered from there. `Retry-After`, `RateLimit` and `RateLimit-Policy` say when to go on. Any route but a plain probe of `/health` can give this answer. Requests to `/relay` that show the token never count. Results of runs count until they have succeeded.',
    cause:
      'Posts or changing reads without pause; many clients behind one address while `TRUST_PROXY` is not set.',
  },
  'too-many-at-once': {
    meaning:
      'This client has a third of `MAX_UNDER_WAY` requests that the server has not answered, or its site (an IPv6 /48) half of `MAX_UNDER_WAY`. The server refused the request without looking at it. A plain `GET /health`, `/relay` with its token and results of runs never get this answer.',
    cause:
      'Many requests in parallel while a node is slow; many clients behind one address while `TRUST_PROXY` is not set.',
  },
  'too-many-runs': {
    meaning: 'An enclave that stays up has `MAX_RUNS` runs under way, or is stopping. Nothing was started.',
    cause: "`MAX_RUNS` below the server's `ENCLAVE_MAX_RUNS` and three.",
  },
  'too-many-waiting': {
    meaning:
      'The server keeps a twentieth of `ENVELOPE_MAX_WAITING` envelopes of one client without an escrow, of 4 MiB at most. This client has as many, and the chain shows no open escrow for this one.',
    cause: 'Envelopes whose escrows never open; many clients behind one address without `TRUST_PROXY`.',
  },
  'headers-too-large': {
    meaning: 'The header fields are longer than the server reads (8 KiB).',
    cause: 'Piled-up cookies of a shared domain.',
  },
  'relay-quota-exhausted': {
    meaning:
      "`quota` is `account`: the account's orders have used or booked `RELAY_ACCOUNT_DAILY_GAS` since midnight (UTC); or `institution`: the institution's rulebooks have used ten times as much; or `opening`: the account has as many openings at the platform's cost under way or refused as it may have. Of `account` and `institution` the first authorization of a day always fits, and what finishes an order written ahead is not refused. Nothing was signed. `Retry-After` is the time until midnight, or until a place for an opening may be free.",
    cause:
      'Many orders of one employee, or rulebooks published again and again; openings of orders that the enclave refused.',
  },
  'internal-error': {
    meaning:
      'The server failed in a way that it does not foresee. The answer reveals nothing about the cause; the log has it under the `requestId`.',
    cause: 'A defect.',
  },
  'enclave-failed': {
    meaning: 'The enclave run failed, or no enclave took its job.',
    cause:
      "No enclave where jobs are posted, or a wrong configuration of it; the enclave's own chain node or broker down.",
  },
  'chain-unavailable': {
    meaning:
      'No chain node answered, or none with an answer that can be used. Nothing of this request was signed or sent; what was stored before stays stored.',
    cause:
      'The nodes in `RPC_URL` are down, unreachable, limit the rate, or run no calls. At `POST /relay` also a contract address at which there is no contract.',
  },
  'market-unavailable': {
    meaning: 'The market-data provider gave no usable answer.',
    cause: "An outage, a refused key, the provider's rate limit.",
  },
  'storage-unavailable': {
    meaning:
      'The server could not read or write its data directory or database. Nothing of this request was accepted.',
    cause: 'A full or read-only disk, missing rights on `DATA_DIR`, PostgreSQL that does not answer.',
  },
  'relayer-underfunded': {
    meaning:
      "The relayer's account can't pay the most that this authorization and all that are under way may cost. New work must also leave `RELAY_MIN_BALANCE` and the gas booked for orders written ahead, at the current price.",
    cause: 'An empty account; `GET /health` names its address.',
  },
  'platform-paused': {
    meaning:
      'The guardian has paused openings and everything that the enclave signs, so the rulebook was not published. `Retry-After` is the time until the pause ends; the owner may lift it earlier.',
    cause: "An incident that the platform's operator looks into.",
  },
  'relay-budget-exhausted': {
    meaning:
      'Gas used since midnight (UTC), gas under way and gas booked for orders written ahead leave less of `RELAY_DAILY_GAS` than this authorization needs. New orders cannot use the reserve for orders written ahead (a fifth of it). Nothing was signed. `Retry-After` is the time until midnight.',
    cause: "A budget too small for the day's orders, or a thief of the token with authorizations to spend.",
  },
  'relay-overloaded': {
    meaning: 'More authorizations are under way than the relay takes at once.',
    cause: 'A burst, or transactions stuck behind a low fee.',
  },
  'enclave-busy': {
    meaning:
      "One rulebook of this institution runs and two wait already, or sixteen others have some. Without an admin's signature in `author`, the client counts in place of the institution.",
    cause: 'Several rulebooks at the same moment; a rulebook without `author` while strangers post junk.',
  },
  'keys-awaited': {
    meaning: 'The enclave in force has posted no evidence with its key, and none is configured.',
    cause: 'An enclave that waits for its shares, or whose evidence is older than two hours.',
  },
  'unattested-enclave': {
    meaning: 'A challenge went to an enclave that cannot prove where its keys were born.',
    cause: 'An enclave with its keys from files.',
  },
  'enclave-unavailable': {
    meaning:
      'The enclave has not answered a challenge within five seconds, waits for its keys, or answers another one. One at a time is answered.',
    cause: 'A restart of the enclave; several challenges at once.',
  },
  'intake-full': {
    meaning:
      'As many orders are stored without an escrow as the server keeps (`ENVELOPE_MAX_WAITING`), and the chain does not show an open escrow for this one.',
    cause: 'Envelopes are posted for escrows that never open, and this one came before its escrow was mined.',
  },
  overloaded: {
    meaning:
      'The server has more work than it can do in time, and has refused the request without looking at it. A plain `GET /health`, `/relay` with its token and results of runs never get this answer.',
    cause: 'A burst; a node or a disk that has become slow, so that `MAX_UNDER_WAY` requests wait for it.',
  },
  'shutting-down': {
    meaning: 'The server is stopping and takes no new requests.',
    cause: 'A restart or deployment.',
  },
  'enclave-timeout': {
    meaning:
      'Within `POLICY_RUN_TIMEOUT` the run did not end, or there was no permit to begin it. A run that began may still be accepted late.',
    cause: 'A slow chain; an enclave that hangs; other rulebooks before this one.',
  },
}

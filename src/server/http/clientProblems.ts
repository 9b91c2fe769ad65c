/** A code's explanation for its reader. In meaning, cause and remedy, backticks enclose code. */
export interface ProblemDefinition {
  readonly status: number
  readonly title: string
  readonly meaning: string
  /** The typical one. */
  readonly cause: string
  /** The remedy; also the default `detail` of an answer. */
  readonly remedy: string
  /** Sent as `Retry-After`, in seconds, when the thrower names no better moment. */
  readonly retryAfterSeconds?: number
}

/** Codes of status 4xx: the caller has to change the request, or to wait. */
export const CLIENT_PROBLEMS = {
  'malformed-request': {
    status: 400,
    title: 'Malformed HTTP request',
    meaning:
      'The bytes on the connection are not an HTTP request, or the connection broke off inside a body. Or its `Host` is missing, repeated or no host.',
    cause: 'Another protocol on this port (TLS on the plain one, for instance), or a caller that hung up.',
    remedy: 'Send a well-formed HTTP/1.1 request.',
  },
  'malformed-json': {
    status: 400,
    title: 'Malformed JSON',
    meaning:
      'The body is not a JSON value that is safe to read. It is empty, not UTF-8, not JSON, or nested deeper than 32. Or an object in it repeats a member name, or has a member `__proto__`, `constructor` or `prototype`.',
    cause: 'A body that was cut off, or built from strings.',
    remedy: 'Send one JSON value in UTF-8, without repeated member names and without deep nesting.',
  },
  'invalid-body': {
    status: 400,
    title: 'Invalid body',
    meaning:
      'The body is JSON, but not in the shape that the route takes. `errors` lists where (`path`, dotted) and what (`message`), at most twenty entries. An unknown member is an error.',
    cause:
      'A misspelled member, hex of a wrong length, a number for a decimal string, a wrong EIP-55 checksum.',
    remedy: 'Correct the members listed in "errors" and send the request again.',
  },
  'invalid-parameter': {
    status: 400,
    title: 'Invalid path parameter',
    meaning: 'A part of the path has the wrong type, or its percent-encoding is broken. `errors` names it.',
    cause:
      'An `orderId`, `orgId` or digest that is not 32 bytes of hex; an address with a wrong EIP-55 checksum.',
    remedy: 'Correct the parameters listed in "errors" and send the request again.',
  },
  'invalid-envelope': {
    status: 400,
    title: 'Invalid sealed envelope',
    meaning: 'The four fields are there, but no envelope can be made of them. `errors` names the wrong ones.',
    cause:
      'An `epk` off the curve secp256k1; an `iv` not of 12 bytes, a `tag` not of 16; a `ct` empty or too long.',
    remedy: 'Seal the content again with the key of GET /enclave-key and send the new envelope.',
  },
  'relay-unauthorized': {
    status: 401,
    title: 'Relay token missing or wrong',
    meaning: 'A relay route was called without the shared token, or with another one. The body was not read.',
    cause: "The enclave's token differs from the server's `RELAY_AUTH_TOKEN`.",
    remedy: 'Send "Authorization: Bearer <RELAY_AUTH_TOKEN>" with the token the server is configured with.',
  },
  'run-unauthorized': {
    status: 401,
    title: 'Run message not signed',
    meaning:
      "The request carries no fresh signature of this run's message by the shared secret. Its body was not parsed, and it is answered the same whether or not there is such a run.",
    cause:
      "`ENCLAVE_TRIGGER_SECRET` differs between server and enclave. A clock is off by minutes, or the enclave's is behind the server's by more than five seconds. A proxy changes the body.",
    remedy: 'Sign the exact body with the shared secret, for this run, and send it at once.',
  },
  'origin-not-allowed': {
    status: 403,
    title: 'Origin not allowed',
    meaning: 'The request carries an `Origin` other than the configured one. No handler ran.',
    cause:
      'A page of another origin (scheme, host, port, or `null`), or `FRONTEND_ORIGIN` set to another one.',
    remedy: 'Call the API from the one origin that the server is configured with (FRONTEND_ORIGIN).',
  },
  'not-order-account': {
    status: 403,
    title: "Not signed by the order's account",
    meaning:
      'The signature outside the seal is not by the account that opened the escrow. Nothing was stored.',
    cause: 'Another wallet, chain or escrow; a body that was changed after it was signed; a contract wallet.',
    remedy: 'Sign the hash of the envelope by the wallet that opened the escrow, for this chain and escrow.',
  },
  'not-found': {
    status: 404,
    title: 'No such route',
    meaning: 'There is no route at this path.',
    cause: 'A misspelled path; paths are case-sensitive.',
    remedy: 'Check the path against the list of routes.',
  },
  'order-not-found': {
    status: 404,
    title: 'Order not found',
    meaning: 'Neither the chain nor the cache knows this order.',
    cause: 'A wrong `orderId`; an escrow whose transaction is not mined and whose envelope was not posted.',
    remedy: 'Check the orderId. An order is known once its escrow is on the chain or its envelope is posted.',
  },
  'institution-not-found': {
    status: 404,
    title: 'Institution not found',
    meaning: 'No institution is registered under this `orgId`.',
    cause: 'A wrong `orgId` (it is the name as ASCII, zero-padded to 32 bytes), or another chain.',
    remedy: 'Check the orgId. An institution is known once it is registered on the chain.',
  },
  'receipt-not-found': {
    status: 404,
    title: 'Receipt not found',
    meaning: 'No receipt is kept under this digest, or the chain contradicts the one that is.',
    cause:
      "The authorization was never relayed, or the cache was emptied or the chain reset since; the contract's `usedDigest` shows which.",
    remedy: 'Check the digest, or relay the authorization again: relaying is idempotent.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists, but not for this method. The `Allow` header lists those it has.',
    cause: 'GET and POST mixed up.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  'order-ended': {
    status: 409,
    title: 'Order has ended',
    meaning:
      'The order is settled or refunded on the chain, and no cancel of it was stored before. A cancel that was stored gets 202 when posted again.',
    cause: 'The order was filled, refused or reclaimed before the cancel came.',
    remedy: 'There is nothing left to cancel: read the state of the order.',
  },
  'opening-under-way': {
    status: 409,
    title: 'Another opening of the order under way',
    meaning:
      'The server sends one opening at a time for an `orderId` (its first 16 bytes). Another one that was signed for it is on its way. Nothing was stored.',
    cause: 'A client that signed a second opening before the first was used or had expired.',
    remedy: "Wait until the order's escrow is open, or until the first opening has expired.",
  },
  'order-under-way': {
    status: 409,
    title: 'Another run of the order under way',
    meaning: 'An enclave that stays up runs one job of an order at a time. Nothing was started.',
    cause: 'A server that has lost its `DATA_DIR`, or two servers, with a run of the order still going on.',
    remedy: 'Wait until that run has ended, 30 s after its stopAt at the latest, and offer a new one.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request took too long to arrive',
    meaning:
      'The headers did not arrive within a third of `REQUEST_TIMEOUT`, or the body within ten seconds of them or within `REQUEST_TIMEOUT`. Under load, a request whose body is incomplete ends earlier, so that others have room.',
    cause: 'A stalled connection, or a client that declares more body than it sends.',
    remedy: 'Send headers and body without pauses.',
  },
  'body-too-large': {
    status: 413,
    title: 'Body too large',
    meaning: 'The body is longer than 64 KiB; at `/relay`, than 128 KiB.',
    cause: 'Not a sealed envelope: an order has at most 4,096 bytes of ciphertext, a rulebook 16,384.',
    remedy: 'Send a body below the limit.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The body is not declared as JSON in UTF-8, or it is compressed.',
    cause: 'A missing `Content-Type`, a form or text POST, a `Content-Encoding`.',
    remedy: 'Send the body as "Content-Type: application/json" in UTF-8, without a Content-Encoding.',
  },
  'run-too-late': {
    status: 422,
    title: 'Job past its time',
    meaning: "The job's `stopAt` is past by the enclave's clock. Nothing was started.",
    cause: 'A job that was on its way for long; clocks that differ.',
    remedy: 'Offer a new run; compare the clocks when this keeps happening.',
  },
  'policy-rejected': {
    status: 422,
    title: 'Rulebook rejected',
    meaning:
      'The enclave opened the rulebook and refused it, or the server refused the signature outside the seal (`author`) before any run. `reason` is the code.',
    cause:
      "A signature that is not the admin's, or is for another chain or escrow; a version that is not the on-chain one plus one. Also an unlisted symbol, or a repeated member, such as an employee listed twice (`invalid-rulebook`).",
    remedy: 'The member "reason" has the enclave\'s code: correct the rulebook, sign and seal it again.',
  },
  'resolution-rejected': {
    status: 422,
    title: 'Resolution rejected',
    meaning:
      "The enclave refused what the platform's owner decided, or the server refused the signature outside the seal (`sig`) before any run. `reason` is the code.",
    cause:
      "A signature that is not the owner's (`not-owner`), has expired (`expired`), or is valid for more than a day (`expiry-too-far`). An entry or a portfolio that has changed since, also by this very resolution (`entry-changed`, `portfolio-changed`); an order that its runs can end (`order-not-stuck`), or that may still fill at the broker, even if someone else placed it (`order-live`). Figures that cannot be (`invalid-figures`), are far from the market (`figures-off-market`), or are for a symbol without a price (`no-price`).",
    remedy: 'Look at the order again, and sign what it needs now.',
  },
  'invalid-signature': {
    status: 422,
    title: 'Authorization not signed by the enclave',
    meaning: "The signature is not the enclave signer's over this message. No gas was spent.",
    cause: "Another signing key, chain id or contract address on the enclave's side; a changed message.",
    remedy: "Sign the authorization with the enclave's signing key for this chain and contract.",
  },
  'opening-not-sponsored': {
    status: 422,
    title: 'Opening not paid for by the platform',
    meaning:
      'The account is a member of no institution that the platform admits, so the platform does not pay for its openings. Nothing was stored.',
    cause: 'A wallet that has left its institution or was removed, or whose institution is suspended.',
    remedy: "Open the escrow with the wallet's own gas, and post the order without its opening.",
  },
  'invalid-opening': {
    status: 422,
    title: 'Opening not signed by its account',
    meaning:
      "The signature in `opening` is not the account's over this order, with the `commit` of this envelope, for this chain, escrow and USDC. Nothing was stored or sent.",
    cause:
      "Another envelope than the signed one; another `amount`, `deadline` or `validBefore`; a domain that is not USDC's `name()` and `version()`; a contract wallet.",
    remedy: 'Sign the opening of this very envelope, or open the escrow by a transaction.',
  },
  'would-revert': {
    status: 422,
    title: 'Transaction would revert',
    meaning:
      "The contract would refuse the transaction now. `revert` has the name and arguments of its error; `unknown` where the node does not name it. One name is the server's own: `GasLimitExceeded`, when the call needs more gas (`needed`) than 2^24, the most of a transaction (EIP-7825), or a block leaves it (`limit`). No gas was spent. A receipt of status `failed` has another one in its `error`: `RefusedByNodes`, when every node that answers refuses the transaction; nothing reverted then.",
    cause:
      "Another authorization was first: `VersionConflict`, an order no longer open, another supply or batch number. An opening: `NotCleared`, `NotAdmitted`, `Leaving`, `OrderIdTaken`, `OpeningExpired`, too little USDC (USDC's own error).",
    remedy: 'Read "revert", compute authorization or opening from the current state, and sign it again.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    meaning:
      'The requests of this client, or of its site (an IPv6 /48, which has four times as much), have cost more in a minute than `RATE_LIMIT_PER_MINUTE`: a read 1, a post 30, and nothing a read answered with 304. Or reads of the client have caused more than 3,600 calls of the nodes in a minute. `Retry-After`, `RateLimit` and `RateLimit-Policy` say when to go on. Any route but a plain probe of `/health` can give this answer. Requests to `/relay` that show the token never count. Results of runs count until they have succeeded.',
    cause:
      'Posts or changing reads without pause; many clients behind one address while `TRUST_PROXY` is not set.',
    remedy: 'Wait for the seconds in Retry-After.',
  },
  'too-many-at-once': {
    status: 429,
    title: 'Too many requests at once',
    meaning:
      'This client has a third of `MAX_UNDER_WAY` requests that the server has not answered, or its site (an IPv6 /48) half of `MAX_UNDER_WAY`. The server refused the request without looking at it. A plain `GET /health`, `/relay` with its token and results of runs never get this answer.',
    cause:
      'Many requests in parallel while a node is slow; many clients behind one address while `TRUST_PROXY` is not set.',
    remedy: 'Nothing was accepted. Wait for earlier requests to end, or for the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'too-many-runs': {
    status: 429,
    title: 'Too many runs',
    meaning: 'An enclave that stays up has `MAX_RUNS` runs under way, or is stopping. Nothing was started.',
    cause: "`MAX_RUNS` below the server's `ENCLAVE_MAX_RUNS` and three.",
    remedy: 'Offer the job again after the seconds in Retry-After.',
    retryAfterSeconds: 5,
  },
  'too-many-waiting': {
    status: 429,
    title: 'Too many envelopes of this client without an escrow',
    meaning:
      'The server keeps a twentieth of `ENVELOPE_MAX_WAITING` envelopes of one client without an escrow, of 4 MiB at most. This client has as many, and the chain shows no open escrow for this one.',
    cause: 'Envelopes whose escrows never open; many clients behind one address without `TRUST_PROXY`.',
    remedy: 'Nothing was accepted. Send the envelope once the transaction that opens its escrow is mined.',
    retryAfterSeconds: 30,
  },
  'headers-too-large': {
    status: 431,
    title: 'Header fields too large',
    meaning: 'The header fields are longer than the server reads (16 KiB).',
    cause: 'Piled-up cookies of a shared domain.',
    remedy: 'Send fewer or shorter header fields.',
  },
  'relay-quota-exhausted': {
    status: 429,
    title: 'Quota used up',
    meaning:
      "`quota` is `account`: the account's orders have used or booked `RELAY_ACCOUNT_DAILY_GAS` since midnight (UTC); or `institution`: the institution's rulebooks have used as much; or `opening`: the account has as many openings at the platform's cost under way or refused as it may have. Of `account` and `institution` the first authorization of a day always fits, and what finishes an order that is held is not refused. Nothing was signed. `Retry-After` is the time until midnight, or until a place for an opening may be free.",
    cause:
      'Many orders of one employee, or rulebooks published again and again; openings of orders that the enclave refused.',
    remedy:
      'Send it again after the seconds in Retry-After; "quota" says which quota it is. An escrow can be opened with the wallet\'s own gas at once.',
    retryAfterSeconds: 3_600,
  },
} as const satisfies Record<string, ProblemDefinition>

# syntax=docker/dockerfile:1

# Two images, as two users: `server`, the HTTP service, and `enclave`, the confidential program, which stays up. Neither has
# the other's program or configuration. No secret is in an image: the server's configuration comes as environment
# variables, the enclave's as a file that is mounted (docs/operations/first-day.md, "In containers").

# The digest is of the index of all platforms. docs/decisions/0020 says where it is from, and how to renew it.
ARG NODE_IMAGE=node:26.10.0-trixie-slim@sha256:930557a230abacbc3f4fd9b8648abf8f4bee1e17cb72195dcdfb2f709bc85b33

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY scripts ./scripts
COPY contracts ./contracts
COPY test/vectors ./test/vectors
# The server's image has no enclave. The enclave's has only its bundles, which need no package.
RUN npm run build:programs \
    && cp -r dist /server && rm -r /server/enclave /server/contracts \
    && mkdir -p /enclave/enclave/doctor \
    && cp dist/enclave/main.js* dist/enclave/attested.js* /enclave/enclave && cp dist/enclave/doctor/main.js* /enclave/enclave/doctor

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=dev

FROM ${NODE_IMAGE} AS enclave
WORKDIR /app
# The programs belong to root, so that their processes can't change them; their data is the one thing that they can write.
COPY package.json ./
COPY --from=build /enclave ./dist
RUN install -d -o 10002 -g 10002 -m 700 /data
ENV NODE_ENV=production \
    ENCLAVE_ENV_FILE=/run/secrets/enclave.env \
    ENCLAVE_STATE_DIR=/data \
    ENCLAVE_LISTEN=127.0.0.1:8700
# A number: Kubernetes checks runAsNonRoot by it. It is no user's of the base image, and not the server's.
USER 10002:10002
VOLUME ["/data"]
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD ["node", "-e", "http.get('http://' + process.env.ENCLAVE_LISTEN + '/health', (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# Node itself is process 1, without npm or a shell between it and the signals that it handles.
STOPSIGNAL SIGTERM
CMD ["node", "--enable-source-maps", "dist/enclave/main.js", "serve"]

FROM ${NODE_IMAGE} AS server
WORKDIR /app
COPY package.json ./
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /server ./dist
RUN install -d -o 10001 -g 10001 -m 700 /data
ENV NODE_ENV=production \
    DATA_DIR=/data \
    ENCLAVE_URL=http://127.0.0.1:8700/
USER 10001:10001
VOLUME ["/data"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD ["node", "-e", "http.get('http://127.0.0.1:' + (process.env.PORT || 8000) + '/health', (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "--enable-source-maps", "dist/server/main.js"]

# syntax=docker/dockerfile:1

# The HTTP service with the bundled enclave program. No secret is in the image: the server's configuration comes as
# environment variables, the enclave's as a file that is mounted (docs/operations.md, "In a container").

FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build

FROM node:20-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=dev

FROM node:20-slim
WORKDIR /app
# The program belongs to root, so that the process can't change it; its data is the one thing that it can write.
COPY package.json ./
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN install -d -o node -g node -m 700 /data
ENV NODE_ENV=production \
    DATA_DIR=/data \
    ENCLAVE_ENV_FILE=/run/secrets/enclave.env
# The image's user "node", as a number: Kubernetes checks runAsNonRoot by it.
USER 1000:1000
VOLUME ["/data"]
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8000) + '/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, without npm or a shell between it and the signals that it handles.
STOPSIGNAL SIGTERM
CMD ["node", "--enable-source-maps", "dist/server/main.js"]

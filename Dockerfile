# syntax=docker/dockerfile:1
ARG NODE_VERSION=24

FROM node:${NODE_VERSION}-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# Nothing is compiled on installing, and the image has the Node that a checkout would bring along.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY LICENSE ./
COPY scripts scripts
COPY src src
RUN node scripts/build.ts && mkdir data

FROM node:${NODE_VERSION}-slim
LABEL io.modelcontextprotocol.server.name="example.programme-mcp/programme-mcp" \
      org.opencontainers.image.title="programme-mcp" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/dist dist
# The only folder that is written to; all else may be read-only.
COPY --from=build --chown=1000:1000 /build/data /data
ENV NODE_ENV=production \
    PROGRAMME_DATA_DIR=/data \
    PROGRAMME_HOST=0.0.0.0 \
    SQLITE_TMPDIR=/data \
    TMPDIR=/data \
    XDG_CACHE_HOME=/data/cache
VOLUME /data
EXPOSE 3000
USER 1000:1000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PROGRAMME_PORT || 3000) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["http"]

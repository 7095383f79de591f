# syntax=docker/dockerfile:1
# The image of every role: serve (the default), worker, migrate, keys, doctor, up.

FROM python:3.13-slim-trixie AS build
WORKDIR /build
COPY requirements-build.lock requirements-runtime.lock ./
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-build.lock \
    && python -m venv /opt/mnemic \
    && /opt/mnemic/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-runtime.lock
COPY pyproject.toml README.md LICENSE alembic.ini ./
COPY alembic ./alembic
COPY app ./app
RUN pip wheel --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir /dist . \
    && /opt/mnemic/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps /dist/*.whl

FROM python:3.13-slim-trixie
LABEL org.opencontainers.image.title="Mnemic" \
      org.opencontainers.image.description="Self-hosted REST memory service for AI agents" \
      org.opencontainers.image.licenses="Apache-2.0"
# initdb of the embedded mode wants a user with a name, and bind mounts want one with a known number.
RUN groupadd --gid 10001 mnemic \
    && useradd --uid 10001 --gid 10001 --home-dir /var/lib/mnemic --create-home --shell /usr/sbin/nologin mnemic
COPY --from=build /opt/mnemic /opt/mnemic
ENV PATH=/opt/mnemic/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOST=0.0.0.0 \
    PORT=8000 \
    DATA_DIR=/var/lib/mnemic/data
USER 10001:10001
WORKDIR /var/lib/mnemic
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/healthz', timeout=4)"]
ENTRYPOINT ["mnemic"]
CMD ["serve"]

# Two images: `web` for the site, the workers, the beat and the migrations; `spark` adds Java's part for
# the worker that reads authorizer logs. `spark-kafka` is `spark` with the jars of Spark's connector for
# Kafka, for logs in topics; docs/pipeline.md says how they get into the folder `connector`.
#
#   docker build --target web -t aclweb-web .
#   docker build --target spark -t aclweb-spark .
#   docker build --target spark-kafka -t aclweb-spark .

FROM python:3.11-slim-bookworm AS base
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN useradd --system --uid 10001 --create-home aclweb && install -d -o aclweb -g aclweb /data
WORKDIR /app
COPY requirements/build.txt requirements/web.txt requirements/
RUN pip install --no-deps --require-hashes -r requirements/build.txt \
    && pip install --no-deps --require-hashes --no-build-isolation -r requirements/web.txt
ENV ACLWEB_DATA_DIR=/data ACLWEB_STATIC_DIR=/app/collected-static ACLWEB_COMPRESS_STATIC=true

FROM base AS web
COPY . .
# Static files are collected with keys that exist for this one step.
RUN ACLWEB_DATA_DIR=/tmp/build python -c "from pathlib import Path; from aclweb.runtime import keys; keys.make_missing(Path('/tmp/build'))" \
    && ACLWEB_DATA_DIR=/tmp/build python manage.py collectstatic --noinput --verbosity 0 \
    && rm -rf /tmp/build \
    # What aclweb makes is its maker's alone, and here root makes what the site serves to everybody.
    && chmod -R a+rX collected-static
USER aclweb
EXPOSE 8000
# A process whose main thread gets no turn for 60 s hangs, and gunicorn replaces it.
# More than one process each: the numbers at /metrics are those of the process that answers.
CMD ["python", "-m", "gunicorn", "aclweb.wsgi", "--bind", "0.0.0.0:8000", "--worker-class", "aclweb.site_worker.SiteWorker", "--limit-request-line", "8190", "--workers", "2", "--threads", "8", "--timeout", "60", "--access-logfile", "-", "--access-logformat", "%(h)s %(t)s \"%(m)s %(U)s\" %(s)s %(b)s %(M)s ms"]

FROM base AS spark
COPY requirements.txt .
RUN pip install --no-deps --require-hashes --no-build-isolation -r requirements.txt
COPY . .
# Empty here: docker-compose.yml mounts a folder of the host there, and `spark-kafka` has the jars.
ENV ACLWEB_KAFKA_CONNECTOR=/connector
USER aclweb
CMD ["python", "manage.py", "work", "searches"]

FROM spark AS spark-kafka
COPY connector/*.jar /connector/

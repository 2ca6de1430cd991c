-- Vectors of the published wiki's chunks, several models side by side (SPEC 12). All of it can be rebuilt from pages.

create table wiki.embedding_models (
    model_version text primary key,
    dimensions    integer not null check (dimensions between 1 and 16000),
    partition     text not null unique,
    created_at    timestamptz not null default now()
);

-- One logical table; each model's rows stand in a partition of its own, which checks their width. The column has no
-- width here, so that models of different widths may stand side by side.
create table wiki.embeddings (
    concept_name  text not null,
    section_id    text not null,
    model_version text not null,
    address       text not null,
    content_hash  text not null,
    chunk_text    text not null,
    embedding     vector not null,
    updated_at    timestamptz not null default now(),
    unique (concept_name, section_id, model_version)
) partition by list (model_version);

-- A text that moved to another page or section is recognised by its hash and keeps its vector.
create index embeddings_content_hash on wiki.embeddings (content_hash);

-- What was embedded of each page, and in how many rows: a page that still has this stamp need not be cut and hashed again.
create table wiki.embedded_pages (
    model_version text not null,
    concept_name  text not null,
    stamp         text not null,
    rows          integer not null,
    primary key (model_version, concept_name)
);
